// SPDX-License-Identifier: Apache-2.0

/// One field of one record: a store and a clock of its own, the unit of context
/// and of transfer.
public enum FieldState: Hashable, Sendable {
  /// A register that keeps concurrent writes.
  case register(Causal<Siblings<Stamped>>)
  /// A register that keeps the last write.
  case lww(Causal<Latest>)
  /// A counter.
  case counter(Causal<Tally>)
  /// An add-wins set.
  case set(Causal<DotMap<AddMark>>)
  /// A remove-wins set.
  case removeWinsSet(Causal<DotMap<SetMark>>)
  /// A ledger.
  case ledger(Causal<LedgerLines>)

  /// Creates a field that no save has touched.
  public init(_ kind: FieldKind) {
    self =
      switch kind {
      case .register: .register(Causal())
      case .lww: .lww(Causal())
      case .counter: .counter(Causal())
      case .set: .set(Causal())
      case .removeWinsSet: .removeWinsSet(Causal())
      case .ledger: .ledger(Causal())
      }
  }

  /// The saves that touched the field.
  public var clock: VectorClock {
    switch self {
    case .register(let field): field.clock
    case .lww(let field): field.clock
    case .counter(let field): field.clock
    case .set(let field): field.clock
    case .removeWinsSet(let field): field.clock
    case .ledger(let field): field.clock
    }
  }

  /// The number of a device's last save that touched the field, zero if none did.
  func lastSave(of device: DeviceID) -> UInt64 {
    switch self {
    case .register(let field): field.lastSave(of: device)
    case .lww(let field): field.lastSave(of: device)
    case .counter(let field): field.lastSave(of: device)
    case .set(let field): field.lastSave(of: device)
    case .removeWinsSet(let field): field.lastSave(of: device)
    case .ledger(let field): field.lastSave(of: device)
    }
  }

  /// Whether nothing can be written any more: an `lww` field at the greatest
  /// timestamp that is not unset.
  ///
  /// A re-creation and a purge leave it as it is.
  var isExhausted: Bool {
    guard case .lww(let field) = self else { return false }
    return value != nil && field.store.stamp(for: .zero) == nil
  }

  /// Whether the field holds anything that a re-creation has to drop, and can.
  var hasContent: Bool {
    switch self {
    case .register(let field): !field.store.isEmpty
    case .lww: value != nil && !isExhausted
    case .counter(let field): field.store.hasUncancelled
    case .set(let field): !field.store.isEmpty
    case .removeWinsSet(let field): !field.store.isEmpty
    case .ledger(let field): field.store.hasUncancelled
    }
  }
}

extension FieldState {
  /// Whether a save was the device's last to touch the field, and left nothing of
  /// its own in it: what dropping does.
  func wasEmptied(by save: Dot) -> Bool {
    guard lastSave(of: save.device) == save.sequence else { return false }
    let held: VectorClock
    switch self {
    case .register(let field): held = field.store.dots
    case .lww: return value == nil
    case .counter(let field): held = field.store.dots
    case .set(let field): held = field.store.dots
    case .removeWinsSet(let field): held = field.store.dots
    case .ledger(let field): held = field.store.dots
    }
    return held[save.device] < save.sequence
  }
}

extension FieldState: Lattice {
  /// Joins another state of the same field.
  ///
  /// A state of another kind cannot be of the same field; it is left out.
  public mutating func merge(_ other: FieldState) {
    // Each store is taken out while it changes, so that it is not copied.
    let taken = self
    self = .register(Causal())
    self = taken.consumingMerge(other)
  }

  private consuming func consumingMerge(_ other: FieldState) -> FieldState {
    switch (consume self, other) {
    case (.register(var a), .register(let b)):
      a.merge(b)
      return .register(a)
    case (.lww(var a), .lww(let b)):
      a.merge(b)
      return .lww(a)
    case (.counter(var a), .counter(let b)):
      a.merge(b)
      return .counter(a)
    case (.set(var a), .set(let b)):
      a.merge(b)
      return .set(a)
    case (.removeWinsSet(var a), .removeWinsSet(let b)):
      a.merge(b)
      return .removeWinsSet(a)
    case (.ledger(var a), .ledger(let b)):
      a.merge(b)
      return .ledger(a)
    case (let mine, _):
      return mine
    }
  }
}
