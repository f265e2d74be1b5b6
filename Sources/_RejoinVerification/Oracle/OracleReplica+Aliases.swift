// SPDX-License-Identifier: Apache-2.0

import Rejoin

// Records that are known under several IDs.
extension OracleReplica {
  private static let alias = "rejoin.alias"

  /// The IDs of each record that has several, by each of them.
  var aliases: [RecordID: Set<RecordID>] {
    var groups: [RecordID: Set<RecordID>] = [:]
    for path in held.keys where path.id.entity == Self.alias {
      var group: Set<RecordID> = []
      for case .reference(let id) in field(path).elements {
        group.formUnion(groups[id] ?? [id])
      }
      for id in group { groups[id] = group }
    }
    return groups
  }

  /// What a save says that declares two IDs to be of one record.
  static func alias(_ a: RecordID, _ b: RecordID) -> ScriptVerb {
    let (first, second) = (min(a, b), max(a, b))
    return .edit(
      RecordID(alias, "\(first.key.utf8.count):\(first)=\(second)"),
      FieldKey("names", .set),
      .members(SetEdit(inserting: [.reference(first), .reference(second)])))
  }
}

/// What must be read of a replica, its aliases being looked up once.
struct OracleReader {
  let model: OracleReplica
  private let aliases: [RecordID: Set<RecordID>]

  init(_ model: OracleReplica) {
    self.model = model
    aliases = model.aliases
  }

  func exists(_ id: RecordID) -> Bool {
    (aliases[id] ?? [id]).contains(where: model.existsAlone)
  }

  /// Whether a record has one ID only.
  func isAlone(_ id: RecordID) -> Bool { aliases[id] == nil }

  func reading(_ path: FieldPath) -> FieldReading {
    guard let ids = aliases[path.id] else { return model.field(path).reading }
    let existing = ids.filter(model.existsAlone)
    let parts = (existing.isEmpty ? ids : existing).sorted().map {
      model.field(FieldPath($0, path.key))
    }
    return FieldReading(folding: parts, path.key.kind)
  }
}

extension FieldReading {
  /// What must be read of a field of a record with several IDs.
  fileprivate init(folding parts: [OracleField], _ kind: FieldKind) {
    self.init()
    switch kind {
    case .register, .lww:
      let writes = parts.flatMap { part in
        kind == .lww ? part.write.map { [$0] } ?? [] : part.siblings
      }
      // Of two writes of one save the one under the smaller ID counts.
      let shown = writes.reduce(nil as OracleField.Write?) { best, write in
        guard let best else { return write }
        return (best.time, best.dot) < (write.time, write.dot) ? write : best
      }
      (value, author) = (shown?.value, shown?.dot)
      guard kind == .register else { return }
      conflicts = Set(writes.compactMap(\.value))
        .filter { $0 != shown?.value }.sorted()
    case .counter:
      count = Int64(
        clamping: parts.reduce(0 as Int128) { $0 + Int128($1.count) })
    case .set, .removeWinsSet:
      elements = Set(parts.flatMap(\.elements)).sorted()
    case .ledger:
      total = Int64(
        clamping: parts.reduce(0 as Int128) { $0 + Int128($1.total) })
    }
  }
}
