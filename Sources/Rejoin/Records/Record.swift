// SPDX-License-Identifier: Apache-2.0

/// The state of a record at one moment, as a value that can cross threads.
public struct Record: Sendable {
  let state: RecordState
  let names: FieldNames
  let rule: DeletionRule
  let dangling: Set<RecordID>

  /// The maximum number of bytes of a record after a save: 16 MiB.
  ///
  /// It limits the encoded record, which a store or a hub writes as a whole. A
  /// save that would exceed the limit throws
  /// ``SaveError/recordTooLarge(_:byteCount:)``. A merge never fails, so
  /// concurrent saves of several devices can result in a larger record. Saves
  /// can then only remove content or make the record smaller.
  public static var byteLimit: Int { Limits.recordBytes }

  /// The ID of the record.
  public var id: RecordID { state.id }

  /// Whether the record exists.
  ///
  /// The ``FieldState/marks`` of ``FieldKey/existence`` show which device
  /// deleted a record, and when.
  public var exists: Bool { state.exists(rule) }

  /// Whether the record was deleted or purged.
  package var isDead: Bool { state.isDead(rule) }

  /// The saves that touched the record.
  public var clock: VectorClock { state.clock }

  /// Returns the last edit of each device that a deletion does not cover,
  /// sorted by device.
  package func edits(besideDeletion dot: Dot) -> [Dot] {
    guard let covered = state.marks[dot]?.payload.covered else { return [] }
    return state.edits.saves(beyond: covered).entries
      .map { Dot($0.device, $0.count) }
  }

  /// The fields that any save touched, sorted, without the existence.
  public var fields: [FieldKey] {
    state.slots.filter { $0.name != 0 }.map { names[$0.name] }.sorted()
  }

  /// The state of a field, which is empty if no save touched it.
  ///
  ///     let name = record[FieldKey("name", .register)]
  ///     name.writes  // the visible write and its siblings, sorted by dot
  ///
  /// The state also shows references to records that do not exist.
  public subscript(key: FieldKey) -> FieldState {
    names.number(of: key).flatMap { state[$0] } ?? FieldState(key.kind)
  }

  /// Returns the visible write of a register.
  @inline(__always)
  func visibleWrite(of key: FieldKey) -> Siblings<Stamped>.Element? {
    // A closure would copy the record.
    guard let number = names.number(of: key) else { return nil }
    return state.write(of: number)
  }

  /// Returns the values that a newer field shows for this one, like
  /// ``FieldState/shownValues``.
  func shown(_ key: FieldKey) -> [Value]? {
    self[key].shownValues?.filter { visible($0) != nil }
  }

  /// Returns whether any save touched a field.
  func hasField(_ key: FieldKey) -> Bool {
    names.number(of: key).map { state.has($0) } ?? false
  }

  /// Returns the value, or `nil` if it refers to a record that does not exist.
  @inline(__always)
  func visible(_ value: Value?) -> Value? {
    !dangling.isEmpty && dangling.hides(value) ? nil : value
  }
}

extension Record {
  /// - Parameter exists: A closure that returns whether a record exists.
  init(
    _ state: consuming RecordState, _ names: FieldNames, _ schema: Schema,
    exists: (RecordID) -> Bool
  ) {
    let dangling = state.references { !exists($0) }
    let rule = schema.deletion(of: state.id.entity)
    self.init(state: state, names: names, rule: rule, dangling: dangling)
  }

  /// Returns the registers of the record that have conflicts, sorted, or none if
  /// it does not exist.
  package func conflictedFields(_ schema: Schema) -> [FieldLocation] {
    guard exists else { return [] }
    let quiet = schema[id.entity].quietFields
    return state.slots.filter(\.isShared).map { names[$0.name] }
      .filter { $0.variant == nil && !quiet.contains($0) }
      .filter { !conflictingValues(of: $0).isEmpty }
      .sorted().map { FieldLocation(record: id, field: $0) }
  }
}

extension RecordState {
  /// Returns the references to records that meet a condition.
  ///
  /// The result includes all references that a field may show, because reading
  /// also filters conflicts and elements.
  fileprivate func references(
    where condition: (RecordID) -> Bool
  ) -> Set<RecordID> {
    var references: Set<RecordID> = []
    guard mayContainReferences else { return references }
    for slot in slots {
      slot.state.forEachReference { if condition($0) { references.insert($0) } }
    }
    return references
  }
}

extension Set<RecordID> {
  /// Returns whether a value refers to one of these records, which do not
  /// exist.
  func hides(_ value: Value?) -> Bool {
    if case .reference(let id) = value { contains(id) } else { false }
  }
}

/// A record with the fields that its entity declares.
///
///     replica[Profile.self, "ada"]?.name   // String?
///     replica[Profile.self, "ada"]?.steps  // Int64
///
/// Two records are equal if they have the same ``id``, and each declared field
/// shows the same content and lists the same conflicts. The author and the time
/// of a write do not matter.
@dynamicMemberLookup
public struct TypedRecord<Owner: Entity>: Sendable {
  /// The untyped record, which you read by the keys of fields.
  public let record: Record

  @usableFromInline let fields: DeclaredFields<Owner>

  @usableFromInline
  init(_ record: Record, _ fields: DeclaredFields<Owner>) {
    (self.record, self.fields) = (record, fields)
  }

  /// The content of a field.
  @inlinable
  public subscript<Kind: FieldType>(
    dynamicMember field: KeyPath<Owner, Field<Owner, Kind>>
  ) -> Kind.Reading {
    Kind.read(fields[field], of: record)
  }
}

extension TypedRecord: Identifiable {
  /// The key of the record within its entity.
  public var id: String { record.id.key }
}

extension TypedRecord: Equatable {
  public static func == (a: TypedRecord, b: TypedRecord) -> Bool {
    a.record.id == b.record.id
      && a.fields.all.allSatisfy { $0.showsSame(in: a.record, b.record) }
  }
}

extension Record {
  /// Returns the record with the fields of its entity, or `nil` if it does not
  /// exist.
  @inlinable
  package func typed<E: Entity>(
    _ fields: DeclaredFields<E>
  ) -> TypedRecord<E>? {
    exists ? TypedRecord(self, fields) : nil
  }
}
