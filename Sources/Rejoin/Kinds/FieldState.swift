// SPDX-License-Identifier: Apache-2.0

/// The state of one field of one record: a dot store with its own causal
/// context.
///
/// A delta transfers fields as a unit, or large fields as fragments.
public struct FieldState: Hashable, Sendable {
  /// A field of any kind.
  package enum Box: Hashable, Sendable {
    case register(Causal<Siblings<Stamped>>)
    case counter(Causal<PNCounter>)
    case set(Causal<ORSetStore>)
    case ledger(Causal<Ledger>)
    case existence(Causal<ExistenceMarks>)
  }

  package private(set) var box: Box

  package init<Store: FieldStore>(_ field: consuming Causal<Store>) {
    box = Store.boxed(field)
  }

  /// Creates an empty field.
  public init(_ kind: FieldKind) {
    func empty<Store: FieldStore>(_: Store.Type) -> FieldState {
      FieldState(Causal<Store>())
    }
    self = kind.withStore { empty($0) }
  }

  /// Creates a field that has seen some saves but contains no content.
  package init(_ kind: FieldKind, seen: VectorClock) {
    func emptied<Store: FieldStore>(_: Store.Type) -> FieldState {
      FieldState(Causal(Store(), seen))
    }
    self = kind.withStore { emptied($0) }
  }

  /// Calls `body` with the store of any kind.
  ///
  /// Each case creates its own existential, so the compiler can remove it.
  @inline(__always)
  package func read<Result>(_ body: (any FieldStore) -> Result) -> Result {
    switch box {
    case .register(let field): body(field.store)
    case .counter(let field): body(field.store)
    case .set(let field): body(field.store)
    case .ledger(let field): body(field.store)
    case .existence(let field): body(field.store)
    }
  }

  /// Calls `body` with the field of any kind, including its causal context.
  @inline(__always)
  func readField<Result>(_ body: (any CausalField) -> Result) -> Result {
    switch box {
    case .register(let field): body(field)
    case .counter(let field): body(field)
    case .set(let field): body(field)
    case .ledger(let field): body(field)
    case .existence(let field): body(field)
    }
  }

  /// Changes the field of any kind in place.
  @inline(__always)
  mutating func change<Change: FieldChanging>(
    _: Change.Type, _ input: Change.Input
  ) -> Change.Result {
    defer { _checkInvariants() }
    // Hold the only reference, so the store is changed without a copy.
    switch exchange(&box, with: .register(Causal())) {
    case .register(var field):
      let result = Change.apply(input, to: &field)
      box = .register(field)
      return result
    case .counter(var field):
      let result = Change.apply(input, to: &field)
      box = .counter(field)
      return result
    case .set(var field):
      let result = Change.apply(input, to: &field)
      box = .set(field)
      return result
    case .ledger(var field):
      let result = Change.apply(input, to: &field)
      box = .ledger(field)
      return result
    case .existence(var field):
      let result = Change.apply(input, to: &field)
      box = .existence(field)
      return result
    }
  }

  /// Returns the field with a store of the given type, or `nil` if the field
  /// has another kind.
  package func field<Store: FieldStore>(of _: Store.Type) -> Causal<Store>? {
    Store.unboxed(box)
  }

  /// Returns the store, or `nil` if the field has another kind.
  package func store<Store: FieldStore>(of _: Store.Type) -> Store? {
    Store.unboxed(box)?.store
  }

  /// Changes the field in place if its store has the given type.
  ///
  /// - Returns: The result of `body`, or `nil` if the field has another kind.
  package mutating func change<Store: FieldStore, Result>(
    _: Store.Type, _ body: (inout Causal<Store>) -> Result
  ) -> Result? {
    guard var field = Store.unboxed(box) else { return nil }
    // Hold the only reference, so the store is changed without a copy.
    box = .register(Causal())
    let result = body(&field)
    box = Store.boxed(field)
    _checkInvariants()
    return result
  }
}

/// A change that applies to a field of any kind.
///
/// Conforming types have no instances.
protocol FieldChanging {
  associatedtype Input
  associatedtype Result

  static func apply<Store: FieldStore>(
    _ input: Input, to field: inout Causal<Store>
  ) -> Result
}

/// A field of any kind.
protocol CausalField {
  var clock: VectorClock { get }
  func lastSave(of device: DeviceID) -> UInt64
  /// Whether the field has seen no saves.
  var isInitial: Bool { get }
  /// Whether the field has seen saves but contains no content.
  var isEmptied: Bool { get }
  /// An upper bound of the number of bytes that the field takes in a message.
  var byteBound: Int { get }
  /// The part of the clock that the dots in the store do not imply.
  var explicitRemainder: [VectorClock.Entry] { get }
  func write(to writer: inout FieldWriter, as fragment: FragmentParts?)
  func fragment(
    since known: VectorClock, receiverHasRemovals: Bool, elements: () -> [Value]
  )
    -> Fragment?
  func part(of devices: Set<DeviceID>) -> FieldState
  func _checkInvariants()
}

extension Causal: CausalField where Store: FieldStore {
  var isEmptied: Bool { store.isEmpty }

  var byteBound: Int {
    store.byteBound + ByteBound.save * storedContextCount
  }

  var explicitRemainder: [VectorClock.Entry] {
    if isContextImplied { return [] }
    let dots = store.dots
    return clock.entries.filter { $0.count > dots[$0.device] }
  }
}

extension FieldState {
  /// The kind of the field.
  package var kind: FieldKind {
    // The metatype of an existential would need an allocation.
    func kind<Store: FieldStore>(_: Store) -> FieldKind { Store.kind }
    return read { kind($0) }
  }

  /// The saves that the field has seen.
  public var clock: VectorClock { readField { $0.clock } }

  /// Returns the number of a device's last save that the field has seen, or
  /// zero if the field has seen none.
  func lastSave(of device: DeviceID) -> UInt64 {
    readField { $0.lastSave(of: device) }
  }

  /// Whether the field has seen saves but contains no content.
  var isEmptied: Bool { readField { $0.isEmptied } }

  /// An upper bound of the number of bytes that the field takes in a message.
  var byteBound: Int { readField { $0.byteBound } }

  /// The write of a register, or `nil` if the field contains anything else.
  var onlyWrite: Siblings<Stamped>.Element? {
    guard case .register(let field) = box else { return nil }
    return field.onlyWrite
  }
}

extension Causal<Siblings<Stamped>> {
  /// The write of a register, or `nil` if the field contains anything else.
  var onlyWrite: Siblings<Stamped>.Element? {
    isContextImplied ? store.only : nil
  }
}

extension FieldState: Lattice {
  /// Joins another state of the same field.
  ///
  /// Both states have the same kind, because a field's key includes its kind. A
  /// join is total, so it ignores a state of another kind.
  public mutating func merge(_ other: FieldState) {
    enum Merge: FieldChanging {
      static func apply<Store: FieldStore>(
        _ other: Box, to field: inout Causal<Store>
      ) {
        if let theirs = Store.unboxed(other) { field.merge(theirs) }
      }
    }
    change(Merge.self, other.box)
  }
}

extension FieldState {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      readField { $0._checkInvariants() }
      read { $0._checkInvariants() }
    #endif
  }
}

extension FieldState {
  /// The values to show in a newer field of another kind, or `nil` if no save
  /// wrote the field.
  package var shownValues: [Value]? { read { $0.shownValues } }

  /// Whether no save touched the field.
  var isInitial: Bool { readField { $0.isInitial } }

  /// Returns whether a set contains an element.
  func contains(_ element: Value) -> Bool {
    store(of: ORSetStore.self)?.contains(element) ?? false
  }

  /// Whether the field has content that a re-creation of the record drops.
  package var hasContent: Bool { read { $0.hasContent } }

  /// Returns whether both states show the same content.
  public func shows(sameAs other: FieldState) -> Bool {
    func compare<Store: FieldStore>(_ store: Store) -> Bool {
      other.store(of: Store.self).map(store.shows) ?? false
    }
    return read { compare($0) }
  }

  /// Returns the edit that makes this field show what `other` shows after
  /// `edit`, or `nil` if it already does.
  package func overwriting(
    with other: FieldState, after edit: FieldEdit?
  ) -> (edit: FieldEdit, supersedesAll: Bool)? {
    func overwriting<Store: FieldStore>(
      _ store: Store
    ) -> (edit: FieldEdit, supersedesAll: Bool)? {
      other.store(of: Store.self)
        .flatMap { store.overwriting(with: $0, after: edit) }
    }
    return read { overwriting($0) }
  }

  /// Returns the content that the join of `part` may change.
  func content(changedBy part: FieldState) -> FieldState {
    func content<Store: FieldStore>(_ store: Store) -> FieldState {
      let content = part.store(of: Store.self).map(store.content(changedBy:))
      return FieldState(Causal(content ?? store, clock))
    }
    return read { content($0) }
  }

  /// Returns the dots with different content in the two states.
  func equivocations(with other: FieldState) -> [Dot] {
    func compare<Store: FieldStore>(_ store: Store) -> [Dot] {
      other.store(of: Store.self).map(store.equivocations) ?? []
    }
    return read { compare($0) }
  }

  /// Returns whether a device has the same additions in both states, if both
  /// contain the same saves of the device.
  func adds(sameAs other: FieldState, by device: DeviceID) -> Bool {
    func compare<Store: FieldStore>(_ store: Store) -> Bool {
      other.store(of: Store.self)
        .map { store.adds(sameAs: $0, by: device) } ?? true
    }
    return read { compare($0) }
  }
}

// References to other records.
extension FieldState {
  /// Whether the field may contain a reference.
  ///
  /// The answer for a set is always `true`, because its elements are not
  /// searched.
  var mayContainReferences: Bool { read { $0.mayContainReferences } }

  /// Calls `body` with every reference in the field.
  func forEachReference(_ body: (RecordID) -> Void) {
    read {
      $0.forEachValue { value in
        if case .reference(let id) = value { body(id) }
      }
    }
  }
}
