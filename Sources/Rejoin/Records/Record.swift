// SPDX-License-Identifier: Apache-2.0

/// The state of a record at one moment, as a value that can cross threads.
public struct Record: Sendable {
  let state: RecordState
  let names: FieldNames
  let rule: DeletionRule
  let dangling: Set<RecordID>

  /// The ID of the record.
  public var id: RecordID { state.id }

  /// Whether the record exists.
  ///
  /// The ``FieldState/marks`` of ``FieldKey/existence`` show which device deleted a
  /// record, and when.
  public var exists: Bool { state.exists(rule) }

  /// Whether the record was deleted or purged.
  package var isDead: Bool { state.isDead(rule) }

  /// The saves that touched the record.
  public var clock: VectorClock { state.clock }

  /// Returns the last save of each device that edited the record and that a deletion
  /// does not cover, sorted by device.
  package func edits(besideDeletion dot: Dot) -> [Dot] {
    guard let covered = state.marks[dot]?.payload.covered else { return [] }
    return state.edits.saves(beyond: covered).entries
      .map { Dot($0.device, $0.count) }
  }

  /// The fields that any save has touched, without the existence, sorted.
  public var fields: [FieldKey] {
    state.slots.filter { $0.name != 0 }.map { names[$0.name] }.sorted()
  }

  /// The state of a field, which is empty if no save has touched it.
  ///
  ///     let name = record[FieldKey("name", .register)]
  ///     name.writes  // the visible write and its siblings, sorted by dot
  ///
  /// The state also shows references to records that do not exist.
  public subscript(key: FieldKey) -> FieldState {
    names.number(of: key).flatMap { state[$0] } ?? FieldState(key.kind)
  }

  /// The visible write of a register.
  private func write(of key: FieldKey) -> Siblings<Stamped>.Element? {
    names.number(of: key).flatMap { state.write(of: $0) }
  }

  /// The writes of a register, the visible one first.
  func siblings(of name: String) -> [Siblings<Stamped>.Element] {
    self[FieldKey(name, .register)].writes.sorted {
      ($1.payload.time, $1.dot) < ($0.payload.time, $0.dot)
    }
  }
}

// A reference to a record that does not exist reads as unset.
extension Record {
  /// The visible value of a register.
  public func value(of name: String) -> Value? {
    write(of: FieldKey(name, .register))
      .flatMap { visible($0.payload.value) }
  }

  /// The visible value of a register or a counter: nothing if it has not been
  /// written, and `nil` if a write has unset it.
  func shown(_ key: FieldKey) -> Value?? {
    key.kind == .register
      ? write(of: key).map { visible($0.payload.value) } : self[key].shown
  }

  /// The values of concurrent writes that differ from the visible one, each
  /// once, sorted.
  ///
  /// The first is `nil` if the field shows a value and a write unset it. A record
  /// knows no schema, so it also lists the values of a field that the schema
  /// declares as `lww`.
  public func conflicts(of name: String) -> [Value?] {
    let showsValue = value(of: name) != nil
    return self[FieldKey(name, .register)].conflicts
      .filter { $0 == nil ? showsValue : visible($0) != nil }
  }

  /// The value of a counter.
  public func count(of name: String) -> Int64 {
    self[FieldKey(name, .counter)].count
  }

  /// The elements of a set, sorted.
  public func elements(of name: String) -> [Value] {
    let all = self[FieldKey(name, .set)].elements
    return dangling.isEmpty ? all : all.filter { visible($0) != nil }
  }

  /// The total of a ledger.
  public func total(of name: String) -> Int64 {
    self[FieldKey(name, .ledger)].total
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
