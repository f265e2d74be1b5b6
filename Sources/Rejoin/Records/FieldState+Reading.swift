// SPDX-License-Identifier: Apache-2.0

extension FieldState {
  /// The visible value of a register.
  public var value: Value? { write?.payload.value }

  /// The visible value of a register or a counter: nothing if it has not been
  /// written, and `nil` if a write has unset it.
  package var shown: Value?? {
    if case .counter = self { return hasContent ? .some(.int(count)) : nil }
    return write.map(\.payload.value)
  }

  /// The visible write of a register.
  public var write: Siblings<Stamped>.Element? {
    if case .register(let field) = self { field.store.winner } else { nil }
  }

  /// The writes that a register holds, sorted by dot.
  public var writes: [Siblings<Stamped>.Element] {
    if case .register(let field) = self { Array(field.store) } else { [] }
  }

  /// The marks of a record's existence, sorted by dot, or none for another kind.
  public var marks: [Siblings<ExistenceMark>.Element] {
    if case .existence(let field) = self { Array(field.store) } else { [] }
  }

  /// The values of a register's other writes that differ from the visible one,
  /// each once, sorted.
  ///
  /// The first is `nil` if a write unset the register.
  var conflicts: [Value?] {
    if case .register(let field) = self { field.store.conflicts } else { [] }
  }

  /// The value of a counter, zero for another kind.
  public var count: Int64 {
    if case .counter(let field) = self { field.store.value } else { 0 }
  }

  /// The elements of a set, sorted; none for another kind.
  public var elements: [Value] {
    if case .set(let field) = self { field.store.elements } else { [] }
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
