// SPDX-License-Identifier: Apache-2.0

extension FieldState {
  /// The visible value of a register.
  public var value: Value? {
    switch self {
    case .register(let field): field.store.winner?.payload.value
    case .lww(let field): field.store.write?.payload.value
    default: nil
    }
  }

  /// The visible value of a register or a counter: nothing if it has not been
  /// written, and `nil` if a write has unset it.
  package var shown: Value?? {
    if case .counter = self { return hasContent ? .some(.int(count)) : nil }
    return write.map(\.payload.value)
  }

  /// The visible write of a register.
  public var write: Siblings<Stamped>.Element? {
    switch self {
    case .register(let field): field.store.winner
    case .lww(let field): field.store.write
    default: nil
    }
  }

  /// The writes that a register holds, sorted by dot.
  public var writes: [Siblings<Stamped>.Element] {
    switch self {
    case .register(let field): Array(field.store)
    case .lww(let field): field.store.write.map { [$0] } ?? []
    default: []
    }
  }

  /// The value of a counter, zero for another kind.
  public var count: Int64 {
    if case .counter(let field) = self { field.store.value } else { 0 }
  }

  /// The elements of a set, sorted; none for another kind.
  public var elements: [Value] {
    switch self {
    case .set(let field): field.store.elements
    case .removeWinsSet(let field): field.store.elements
    default: []
    }
  }

  /// The total of a ledger, zero for another kind.
  public var total: Int64 {
    if case .ledger(let field) = self { field.store.total } else { 0 }
  }

  /// Whether both states have the same visible content.
  public func shows(sameAs other: FieldState) -> Bool {
    value == other.value && count == other.count && total == other.total
      && elements == other.elements
  }
}
