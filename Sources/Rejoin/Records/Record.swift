// SPDX-License-Identifier: Apache-2.0

/// The state of a record at one moment, as a value that can cross threads.
///
/// Aliases of the record are combined in reading: a register shows the latest
/// of all writes, counters and ledgers are added up, and sets are united.
public struct Record: Sendable {
  /// The ID of the record.
  public let id: RecordID

  /// The states of the record and its aliases; nearly always one.
  let parts: Parts
  let names: FieldNames
  let rule: DeletionRule
  let dangling: Set<RecordID>

  enum Parts: Sendable {
    case one(RecordState)
    case many([RecordState])
  }

  /// Whether the record exists.
  ///
  /// A deleted record can still be asked who deleted it, and when.
  public var exists: Bool {
    switch parts {
    case .one(let part): part.exists(rule)
    case .many(let all): all.contains { $0.exists(rule) }
    }
  }

  /// Whether any save has changed a field.
  package func isTouched(_ key: FieldKey) -> Bool {
    var isTouched = false
    forEach(key.name, key.kind) { _ in isTouched = true }
    return isTouched
  }

  /// Calls `body` with the state of a field in every part.
  func forEach(
    _ name: String, _ kind: FieldKind, _ body: (FieldState) -> Void
  ) {
    guard let number = names.number(of: FieldKey(name, kind)) else { return }
    switch parts {
    case .one(let part): if let state = part[number] { body(state) }
    case .many(let all):
      for part in all {
        if let state = part[number] { body(state) }
      }
    }
  }

  /// The visible write of a register.
  func write(
    of name: String, _ kind: FieldKind
  ) -> Siblings<Stamped>.Element? {
    guard case .one(let part) = parts else {
      return siblings(of: name, kind).first
    }
    return names.number(of: FieldKey(name, kind)).flatMap { part.write(of: $0) }
  }

  /// The writes of a register in all parts, the visible one first.
  func siblings(
    of name: String, _ kind: FieldKind
  ) -> [Siblings<Stamped>.Element] {
    var writes: [Siblings<Stamped>.Element] = []
    forEach(name, kind) { writes += $0.writes }
    guard writes.count > 1 else { return writes }
    return writes.sorted {
      ($1.payload.time, $1.dot) < ($0.payload.time, $0.dot)
    }
  }
}

// A reference to a record that does not exist reads as unset.
extension Record {
  /// The visible value of a register.
  public func value(of name: String, _ kind: FieldKind = .register) -> Value? {
    write(of: name, kind).flatMap { visible($0.payload.value) }
  }

  /// The visible value of a register or a counter: nothing if it has not been
  /// written, and `nil` if a write has unset it.
  func shown(_ key: FieldKey) -> Value?? {
    switch key.kind {
    case .counter:
      var isChanged = false
      forEach(key.name, .counter) { isChanged = isChanged || $0.hasContent }
      return isChanged ? .some(.int(count(of: key.name))) : nil
    default:
      return write(of: key.name, key.kind).map { visible($0.payload.value) }
    }
  }

  /// The values of concurrent writes that differ from the visible one, each
  /// once, sorted.
  public func conflicts(of name: String) -> [Value] {
    let writes = siblings(of: name, .register)
    var losers = Set(writes.compactMap(\.payload.value))
    if let winner = writes.first?.payload.value { losers.remove(winner) }
    return losers.filter { visible($0) != nil }.sorted()
  }

  /// The value of a counter.
  public func count(of name: String) -> Int64 {
    var sum: Int128 = 0
    forEach(name, .counter) { sum += Int128($0.count) }
    return Int64(clamping: sum)
  }

  /// The elements of a set, sorted.
  public func elements(
    of name: String, _ kind: FieldKind = .set
  ) -> [Value] {
    var all: [Value] = []
    var parts = 0
    forEach(name, kind) { state in
      all = parts == 0 ? state.elements : all + state.elements
      parts += 1
    }
    if parts > 1 { all = Set(all).sorted() }
    return dangling.isEmpty ? all : all.filter { visible($0) != nil }
  }

  /// The total of a ledger.
  public func total(of name: String) -> Int64 {
    var sum: Int128 = 0
    forEach(name, .ledger) { sum += Int128($0.total) }
    return Int64(clamping: sum)
  }

  /// The value, unless it is a reference to a record that does not exist.
  func visible(_ value: Value?) -> Value? {
    if !dangling.isEmpty, case .reference(let id) = value,
      dangling.contains(id)
    {
      return nil
    }
    return value
  }
}
