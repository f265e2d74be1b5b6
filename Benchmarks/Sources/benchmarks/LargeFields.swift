// SPDX-License-Identifier: Apache-2.0

import Harness
import Rejoin

/// One small change of a large field: W17.
private struct LargeField: Sendable {
  let name: String
  /// The sizes of the field.
  ///
  /// Some are too small for fragments or barely large enough.
  let sizes: [Int]
  let key: FieldKey
  /// Returns the edits of each device, which make the field large.
  let filling: @Sendable (Int) -> [FieldEdit]
  /// The edit with a number.
  let change: @Sendable (Int) -> FieldEdit

  static let id = RecordID("Item", "r")

  static let all = [
    LargeField(
      name: "an insertion into a set", sizes: [16, 64, 1000, 100_000],
      key: FieldKey("tags", .set),
      filling: { size in
        [.members(SetEdit(inserting: (0..<size).map { .int(Int64($0)) }))]
      },
      change: { .members(SetEdit(inserting: [.string("tag \($0)")])) }),
    LargeField(
      name: "an entry of a ledger", sizes: [16, 64, 1000, 100_000],
      key: FieldKey("log", .ledger),
      filling: { size in
        var edit = LedgerEdit()
        for i in 0..<size { edit.append(Int64(i), memo: nil) }
        return [.append(edit)]
      },
      change: {
        var edit = LedgerEdit()
        edit.append(Int64($0), memo: nil)
        return .append(edit)
      }),
    LargeField(
      name: "an increment of a counter", sizes: [16, 64, 1000],
      key: FieldKey("steps", .counter),
      filling: { devices in
        (0..<devices).map { _ in .count(CounterEdit(by: 1)) }
      },
      change: { _ in .count(CounterEdit(by: 1)) }),
  ]

  /// Two replicas that hold the field.
  func pair(_ size: Int) throws -> Pair {
    let pair = try Pair(Dataset(fields: 10))
    for (i, edit) in filling(size).enumerated() {
      let author = Dataset.emptyReplica(1000 + i)
      try author.save { $0.apply(edit, to: key, of: Self.id) }
      for replica in [pair.a, pair.b] {
        if let delta = author.delta() { replica.apply(delta) }
      }
    }
    // The other replica contains the horizon of this one.
    try pair.a.save { $0.apply(change(0), to: key, of: Self.id) }
    pair.b.merge(pair.a)
    return pair
  }
}

extension Suite {
  /// Adds large fields, which send only their new part: W17.
  mutating func addLargeFields() {
    for field in LargeField.all {
      for size in field.sizes {
        addRoundTrip(field, size)
        addBytes(
          "W17", "\(field.name) among \(size): the delta",
          target: size < 1000 ? nil : 150
        ) { scale in
          let pair = try field.pair(scale(size))
          let version = pair.a.version
          try pair.a.save {
            $0.apply(field.change(1), to: field.key, of: LargeField.id)
          }
          return pair.a.delta(since: version)?.encoded().count ?? 0
        }
      }
    }
    for size in [10, 100_000] { addInsertion(size) }
    addGrowth(
      of: "W17", "a save of one insertion into a set", from: 10, to: 100_000,
      target: 2)
  }

  private mutating func addRoundTrip(_ field: LargeField, _ size: Int) {
    add(
      "W17", "\(field.name), its delta, applied", size: size, per: "change",
      target: size < 1000 ? nil : 10_000, beside: .insert
    ) { scale in
      // So few changes keep the field at about its size.
      let count = scale(size < 1000 ? 8 : 1000)
      let size = scale(size)
      return Work(
        operations: count, expecting: 0, setUp: { try field.pair(size) }
      ) { pair in
        var gaps = 0
        for i in 1...count {
          try pair.a.save {
            $0.apply(field.change(i), to: field.key, of: LargeField.id)
          }
          let delta = pair.a.delta(since: pair.b.version)?.encoded() ?? []
          gaps += try delta.withUnsafeBytes {
            try pair.b.apply(decoding: $0, reporting: .faults).gaps.count
          }
        }
        return gaps
      } result: { pair, gaps in
        pair.a.version.vectorClock == pair.b.version.vectorClock ? gaps : -1
      }
    }
  }

  private mutating func addInsertion(_ size: Int) {
    let field = LargeField.all[0]
    add(
      "W17", "a save of one insertion into a set", size: size, per: "save",
      beside: .insert
    ) { scale in
      let count = scale(1000)
      let edits = (0..<count).map { field.change($0 % 8) }
      return Work(
        operations: count, expecting: count,
        setUp: { try field.pair(size) }
      ) { pair in
        var saves = 0
        for edit in edits {
          let report = try pair.a.save {
            $0.apply(edit, to: field.key, of: LargeField.id)
          }
          saves += report.dot == nil ? 0 : 1
        }
        return saves
      }
    }
  }
}
