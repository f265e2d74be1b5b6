// SPDX-License-Identifier: Apache-2.0

/// The state of one field of one record: a dot store with a causal context of
/// its own.
///
/// It is the unit that deltas transfer.
public enum FieldState: Hashable, Sendable {
  /// A register.
  case register(Causal<Siblings<Stamped>>)
  /// A counter.
  case counter(Causal<Tally>)
  /// A set.
  case set(Causal<DotMap>)
  /// A ledger.
  case ledger(Causal<LedgerLines>)
  /// The marks of a record's existence.
  case existence(Causal<Siblings<ExistenceMark>>)

  /// Creates the empty state of a field.
  public init(_ kind: FieldKind) {
    self =
      switch kind {
      case .register: .register(Causal())
      case .counter: .counter(Causal())
      case .set: .set(Causal())
      case .ledger: .ledger(Causal())
      case .existence: .existence(Causal())
      }
  }

  /// The kind of the field.
  var kind: FieldKind {
    switch self {
    case .register: .register
    case .counter: .counter
    case .set: .set
    case .ledger: .ledger
    case .existence: .existence
    }
  }

  /// Reads the field, whatever its kind.
  @inline(__always)
  private func read<Result>(_ body: (any AnyCausal) -> Result) -> Result {
    switch self {
    case .register(let field): body(field)
    case .counter(let field): body(field)
    case .set(let field): body(field)
    case .ledger(let field): body(field)
    case .existence(let field): body(field)
    }
  }

  /// The saves that the field has seen.
  public var clock: VectorClock { read { $0.clock } }

  /// The sequence number of a device's last save that the field has seen; zero
  /// if there is none.
  func lastSave(of device: DeviceID) -> UInt64 {
    read { $0.lastSave(of: device) }
  }

  /// Whether the field is bare: it has seen saves, and holds nothing of them.
  var isBare: Bool { read { $0.isBare } }

  /// The smallest clock that contains every dot in the store.
  var dots: VectorClock { read { $0.dots } }

  /// The part of the clock that the dots in the store do not imply.
  var explicitRemainder: [VectorClock.Entry] { read { $0.explicitRemainder } }

  /// The write of a register, if the field consists of just that.
  var onlyWrite: Siblings<Stamped>.Element? {
    guard case .register(let field) = self, field.isContextImplied else {
      return nil
    }
    return field.store.only
  }

  /// Whether the field has content that creating the record again must drop.
  package var hasContent: Bool {
    switch self {
    case .register(let field): !field.store.isEmpty
    case .counter(let field): field.store.hasUncancelled
    case .set(let field): !field.store.isEmpty
    case .ledger(let field): field.store.hasUncancelled
    case .existence: false
    }
  }
}

extension FieldState: Lattice {
  /// Joins another state of the same field.
  ///
  /// The kind is part of a field's key, so both have one kind. A state of
  /// another kind is ignored, since a join is total.
  public mutating func merge(_ other: FieldState) {
    // Holding the only reference, the store is changed without being copied.
    let taken = self
    self = .register(Causal())
    self = taken.consumingMerge(other)
    _checkInvariants()
  }

  private consuming func consumingMerge(_ other: FieldState) -> FieldState {
    switch consume self {
    case .register(var mine):
      if case .register(let theirs) = other { mine.merge(theirs) }
      return .register(mine)
    case .counter(var mine):
      if case .counter(let theirs) = other { mine.merge(theirs) }
      return .counter(mine)
    case .set(var mine):
      if case .set(let theirs) = other { mine.merge(theirs) }
      return .set(mine)
    case .ledger(var mine):
      if case .ledger(let theirs) = other { mine.merge(theirs) }
      return .ledger(mine)
    case .existence(var mine):
      if case .existence(let theirs) = other { mine.merge(theirs) }
      return .existence(mine)
    }
  }
}

extension FieldState {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      read { $0._checkInvariants() }
      switch self {
      case .register(let field): field.store._checkInvariants()
      case .counter(let field): field.store._checkInvariants()
      case .set(let field): field.store._checkInvariants()
      case .ledger(let field): field.store._checkInvariants()
      case .existence(let field): field.store._checkInvariants()
      }
    #endif
  }
}
