// SPDX-License-Identifier: Apache-2.0

/// The state of one field of one record: a dot store with a causal context of
/// its own.
///
/// It is the unit that deltas transfer.
public struct FieldState: Hashable, Sendable {
  /// A field of any kind.
  package enum Box: Hashable, Sendable {
    case register(Causal<Siblings<Stamped>>)
    case counter(Causal<PNCounter>)
    case set(Causal<DotMap>)
    case ledger(Causal<Ledger>)
    case existence(Causal<ExistenceMarks>)
  }

  package private(set) var box: Box

  package init<Store: FieldStore>(_ field: consuming Causal<Store>) {
    box = Store.boxed(field)
  }

  /// Creates the empty state of a field.
  public init(_ kind: FieldKind) {
    func empty<Store: FieldStore>(_: Store.Type) -> FieldState {
      FieldState(Causal<Store>())
    }
    self = kind.withStore { empty($0) }
  }

  /// Creates the state of a field that has seen some saves and contains nothing
  /// of them.
  package init(_ kind: FieldKind, seen: VectorClock) {
    func emptied<Store: FieldStore>(_: Store.Type) -> FieldState {
      FieldState(Causal(Store(), seen))
    }
    self = kind.withStore { emptied($0) }
  }

  /// Reads the store, whatever its kind.
  ///
  /// The existential is made in each case, so that it costs nothing.
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

  /// Reads the store and its causal context, whatever its kind.
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

  /// Changes the field in place, whatever its kind.
  @inline(__always)
  mutating func change<Change: FieldChange>(
    _: Change.Type, _ input: Change.Input
  ) -> Change.Result {
    defer { _checkInvariants() }
    // Holding the only reference, the store is changed without being copied.
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

  /// The field with a store of a type, or `nil` if its kind is another.
  package func field<Store: FieldStore>(of _: Store.Type) -> Causal<Store>? {
    Store.unboxed(box)
  }

  /// The store, or `nil` if the kind of the field is another.
  package func store<Store: FieldStore>(of _: Store.Type) -> Store? {
    Store.unboxed(box)?.store
  }

  /// Changes the field in place if it has a store of a type.
  ///
  /// - Returns: The result of `body`, or `nil` if the kind of the field is another.
  package mutating func change<Store: FieldStore, Result>(
    _: Store.Type, _ body: (inout Causal<Store>) -> Result
  ) -> Result? {
    guard var field = Store.unboxed(box) else { return nil }
    // Holding the only reference, the store is changed without being copied.
    box = .register(Causal())
    let result = body(&field)
    box = Store.boxed(field)
    _checkInvariants()
    return result
  }
}

/// A change of a field of any kind.
///
/// The types that conform have no instances.
protocol FieldChange {
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
  /// Whether the field has seen saves and contains nothing of them.
  var isEmptied: Bool { get }
  /// The part of the clock that the dots in the store do not imply.
  var explicitRemainder: [VectorClock.Entry] { get }
  func write(to writer: inout FieldWriter, as fragment: FragmentParts?)
  func fragment(
    since known: VectorClock, hasRemovals: Bool, elements: () -> [Value]
  )
    -> Fragment?
  func part(of devices: Set<DeviceID>) -> FieldState
  func _checkInvariants()
}

extension Causal: CausalField where Store: FieldStore {
  var isEmptied: Bool { store.isEmpty }

  var explicitRemainder: [VectorClock.Entry] {
    if isContextImplied { return [] }
    let dots = store.dots
    return clock.entries.filter { $0.count > dots[$0.device] }
  }
}

extension FieldState {
  /// The kind of the field.
  package var kind: FieldKind {
    // A metatype of an existential would cost an allocation.
    func kind<Store: FieldStore>(_: Store) -> FieldKind { Store.kind }
    return read { kind($0) }
  }

  /// The saves that the field has seen.
  public var clock: VectorClock { readField { $0.clock } }

  /// Returns the sequence number of a device's last save that the field has seen,
  /// or zero if it has seen no save of the device.
  func lastSave(of device: DeviceID) -> UInt64 {
    readField { $0.lastSave(of: device) }
  }

  /// Whether the field has seen saves and contains nothing of them.
  var isEmptied: Bool { readField { $0.isEmptied } }

  /// The write of a register, if the field consists of just that.
  var onlyWrite: Siblings<Stamped>.Element? {
    guard case .register(let field) = box else { return nil }
    return field.onlyWrite
  }
}

extension Causal<Siblings<Stamped>> {
  /// The write of a register, if the field consists of just that.
  var onlyWrite: Siblings<Stamped>.Element? {
    isContextImplied ? store.only : nil
  }
}

extension FieldState: Lattice {
  /// Joins another state of the same field.
  ///
  /// The kind is part of a field's key, so both have one kind. A state of
  /// another kind is ignored, since a join is total.
  public mutating func merge(_ other: FieldState) {
    enum Merge: FieldChange {
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
