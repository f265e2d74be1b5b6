// SPDX-License-Identifier: Apache-2.0

/// The combined changes of one save to one field.
public enum FieldEdit: Hashable, Sendable {
  /// Writes a register, or unsets it if the value is `nil`.
  case write(Value?)
  /// Changes a counter.
  case count(CounterEdit)
  /// Changes a set.
  case members(SetEdit)
  /// Appends to a ledger.
  case append(LedgerEdit)
}

/// The edit of one kind of field.
protocol KindEdit {
  /// Whether the edit may add a reference.
  var mayContainReferences: Bool { get }

  /// Whether the edit may remove content without a trace.
  var removes: Bool { get }

  /// An upper bound of the encoded content that the edit adds, or zero if it
  /// only removes content.
  var byteBound: Int { get }

  /// The edit with every value in its canonical form, as in the store.
  var canonical: Self { get }

  /// Adds a later edit of the same field in the same save.
  ///
  /// - Returns: `false` if a counter's sums would overflow. In that case, the
  ///   edit is unchanged.
  mutating func append(_ later: Self) -> Bool

  /// Adds the edit to the digest of its save.
  func add(to digest: inout Digest)
}

extension KindEdit {
  var canonical: Self { self }
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

  /// Calls `body` with the edit of any kind.
  ///
  /// Each case creates its own existential, so the compiler can remove it.
  @inline(__always)
  fileprivate func read<Result>(_ body: (any KindEdit) -> Result) -> Result {
    switch self {
    case .write(let value): body(RegisterEdit(value: value))
    case .count(let edit): body(edit)
    case .members(let edit): body(edit)
    case .append(let edit): body(edit)
    }
  }

  /// Whether the edit may add a reference.
  var mayContainReferences: Bool { read { $0.mayContainReferences } }

  /// Whether the edit may remove content without a trace.
  package var removes: Bool { read { $0.removes } }

  /// An upper bound of the encoded content that the edit adds, or zero if it
  /// only removes content.
  var byteBound: Int { read { $0.byteBound } }

  /// The edit with every value in its canonical form, as in the store.
  package var canonical: FieldEdit {
    switch self {
    case .write(let value): .write(value?.canonical)
    case .count(let edit): .count(edit.canonical)
    case .members(let edit): .members(edit.canonical)
    case .append(let edit): .append(edit.canonical)
    }
  }

  /// Combines this edit with `later`, an edit of the same field in the same
  /// save.
  ///
  /// - Returns: `false` if a counter's sums would overflow. In that case, the
  ///   edit is unchanged.
  public mutating func append(_ later: FieldEdit) -> Bool {
    switch later {
    case .count(let later):
      guard case .count(var edit) = self else { break }
      defer { self = .count(edit) }
      return edit.append(later)
    case .members(let later):
      guard case .members(var edit) = self else { break }
      // Hold the only reference, so the edit is changed without a copy.
      self = .write(nil)
      defer { self = .members(edit) }
      return edit.append(later)
    case .append(let later):
      guard case .append(var edit) = self else { break }
      self = .write(nil)
      defer { self = .append(edit) }
      return edit.append(later)
    case .write: break
    }
    self = later
    return true
  }
}

extension Digest {
  package mutating func add(_ edit: FieldEdit) {
    edit.read { $0.add(to: &self) }
  }

  mutating func add(_ retraction: Retraction) {
    add(8)
    if let dot = retraction.dot { add(dot) }
    if let time = retraction.time { add(time.rawValue) }
    for (element, dot) in retraction.elements.sorted(byValue: { $0.key }) {
      add(element)
      add(dot)
    }
    for (device, decision) in retraction.turns.sorted(by: { $0.key < $1.key }) {
      add(device)
      add(decision)
    }
  }

  mutating func add(_ clock: VectorClock) {
    for entry in clock.entries { add(Dot(entry.device, entry.count)) }
  }

  private mutating func add(_ dot: Dot) {
    add(dot.device)
    add(dot.sequence)
  }

  private mutating func add(_ device: DeviceID) {
    add(device.high)
    add(device.low)
  }
}
