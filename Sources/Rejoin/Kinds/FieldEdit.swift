// SPDX-License-Identifier: Apache-2.0

/// What one save does to one field, all its changes combined.
public enum FieldEdit: Hashable, Sendable {
  /// Writes a register; `nil` unsets it.
  case write(Value?)
  /// Changes a counter.
  case count(CounterEdit)
  /// Changes a set.
  case members(SetEdit)
  /// Appends to a ledger.
  case append(LedgerEdit)
}

/// An optional reset, and the changes after it.
public struct CounterEdit: Hashable, Sendable {
  /// Whether all earlier changes are cancelled.
  public internal(set) var isReset = false
  /// The sum of the increments.
  public internal(set) var increments: UInt64 = 0
  /// The sum of the decrements.
  public internal(set) var decrements: UInt64 = 0

  /// Creates an edit without effect.
  public init() {}

  /// Creates a change by `amount`, with an optional reset before it.
  public init(by amount: Int64, isReset: Bool = false) {
    self.isReset = isReset
    if amount >= 0 {
      increments = amount.magnitude
    } else {
      decrements = amount.magnitude
    }
  }

  /// The edit with increments and decrements exchanged.
  var opposite: CounterEdit {
    var edit = self
    (edit.increments, edit.decrements) = (decrements, increments)
    return edit
  }

  /// Cancels all earlier changes, those of this edit included.
  mutating func reset() {
    self = CounterEdit()
    isReset = true
  }

  /// The value of a counter after the edit, if it is `value` before.
  public func applied(to value: Int64) -> Int64 {
    let change = Int128(increments) - Int128(decrements)
    return Int64(clamping: (isReset ? 0 : Int128(value)) + change)
  }
}

/// The insertions and removals of a save, after an optional clear.
///
/// The last change to an element counts.
public struct SetEdit: Hashable, Sendable {
  /// Whether every element is removed first.
  public internal(set) var isCleared = false
  /// For each element that is changed, whether it is inserted.
  public internal(set) var members: [Value: Bool] = [:]

  /// Creates an edit without effect.
  public init() {}

  /// Creates an edit that inserts and removes the given elements.
  public init(inserting: [Value], removing: [Value] = []) {
    for element in inserting { members[element] = true }
    for element in removing { members[element] = false }
  }

  /// Removes every element.
  public static var clearing: SetEdit {
    var edit = SetEdit()
    edit.isCleared = true
    return edit
  }

  /// The elements of a set after the edit, sorted, if they are `elements`
  /// before.
  public func applied(to elements: [Value]) -> [Value] {
    var result = isCleared ? [] : Set(elements)
    for (element, isIn) in members {
      if isIn { result.insert(element) } else { result.remove(element) }
    }
    return result.sorted()
  }
}

/// The entries that a save appends, after an optional cancellation.
public struct LedgerEdit: Hashable, Sendable {
  /// An amount and what it is for.
  public struct Entry: Hashable, Sendable {
    /// The amount.
    public let amount: Int64
    /// What it is for.
    public let memo: Value?
  }

  /// Whether all earlier entries are cancelled.
  public internal(set) var isCancelled = false
  /// The entries to append.
  public internal(set) var entries: [Entry] = []

  /// Creates an edit without effect.
  public init() {}

  /// Cancels every entry.
  public static var cancelling: LedgerEdit {
    var edit = LedgerEdit()
    edit.isCancelled = true
    return edit
  }

  /// Appends an entry.
  public mutating func append(_ amount: Int64, memo: Value?) {
    entries.append(Entry(amount: amount, memo: memo))
  }

  /// The total of a ledger after the edit, if it is `total` before.
  public func applied(to total: Int64) -> Int64 {
    let sum = entries.reduce(isCancelled ? 0 : Int128(total)) {
      $0 + Int128($1.amount)
    }
    return Int64(clamping: sum)
  }
}

extension FieldEdit {
  /// The kind of the fields that the edit applies to.
  package var kind: FieldKind {
    switch self {
    case .write: .register
    case .count: .counter
    case .members: .set
    case .append: .ledger
    }
  }

  /// Whether the edit may add a reference.
  var mayRefer: Bool {
    switch self {
    case .write(let value): value?.isReference == true
    case .members: true
    case .count, .append: false
    }
  }

  /// Whether the edit may remove something without a trace.
  var removes: Bool {
    switch self {
    case .write: false
    case .count(let edit): edit.isReset
    case .members(let edit):
      edit.isCleared || edit.members.values.contains(false)
    case .append(let edit): edit.isCancelled
    }
  }

  /// The edit with every value in canonical form, as it is stored.
  package var canonical: FieldEdit {
    switch self {
    case .write(let value): return .write(value?.canonical)
    case .count: return self
    case .members(var edit):
      if edit.members.keys.allSatisfy(\.isCanonical) { return self }
      let members = edit.members.map { ($0.canonical, $1) }
      edit.members = Dictionary(uniqueKeysWithValues: members)
      return .members(edit)
    case .append(var edit):
      edit.entries = edit.entries.map {
        .init(amount: $0.amount, memo: $0.memo?.canonical)
      }
      return .append(edit)
    }
  }

  /// Combines this edit with `later`, an edit of the same field in the same
  /// save.
  ///
  /// - Returns: `false` if a counter's sums would overflow; the edit is then
  ///   unchanged.
  public mutating func append(_ later: FieldEdit) -> Bool {
    switch later {
    case .count(let next):
      guard case .count(var edit) = self else { break }
      if next.isReset { edit.reset() }
      let p = edit.increments.addingReportingOverflow(next.increments)
      let n = edit.decrements.addingReportingOverflow(next.decrements)
      if p.overflow || n.overflow { return false }
      (edit.increments, edit.decrements) = (p.partialValue, n.partialValue)
      self = .count(edit)
      return true
    case .members(let next):
      guard case .members(var edit) = self else { break }
      // Released, so that the elements are changed in place.
      self = .write(nil)
      if next.isCleared { edit = .clearing }
      for (element, isIn) in next.members { edit.members[element] = isIn }
      self = .members(edit)
      return true
    case .append(let next):
      guard case .append(var edit) = self else { break }
      self = .write(nil)
      if next.isCancelled { edit = .cancelling }
      edit.entries += next.entries
      self = .append(edit)
      return true
    case .write: break
    }
    self = later
    return true
  }
}
