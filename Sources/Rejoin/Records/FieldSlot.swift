// SPDX-License-Identifier: Apache-2.0

/// A stored field: the number of its name and its state.
///
/// A register with a single write, by far the most common field, is stored as
/// that write. This halves the memory, and the save can be read without a copy
/// of the state.
struct FieldSlot: Sendable {
  private enum Content: Sendable {
    /// The value of a register, written by `save`.
    case register(Value?)
    /// The state of a field that no save touched.
    case empty(FieldKind)
    /// Any other state.
    indirect case other(FieldState)
  }

  private var content: Content
  /// The number of the field.
  let name: UInt32
  /// The save of a single write, which is meaningless for any other state.
  private(set) var save = (dot: Dot(DeviceID(0), 0), time: Timestamp.zero)

  /// Creates a field that no save touched.
  init(_ name: UInt32, _ kind: FieldKind) {
    self.name = name
    content = .empty(kind)
  }

  init(_ name: UInt32, _ state: FieldState) {
    self.name = name
    content = .register(nil)
    put(state)
  }

  private mutating func put(_ state: FieldState) {
    guard let write = state.onlyWrite else { return content = .other(state) }
    put(write)
  }

  private mutating func put(_ write: Siblings<Stamped>.Element) {
    save = (write.dot, write.payload.time)
    content = .register(write.payload.value)
  }

  /// The state of the field.
  var state: FieldState {
    switch content {
    case .register: FieldState(Causal(siblings, nil))
    case .empty(let kind): FieldState(kind)
    case .other(let state): state
    }
  }

  /// Changes the state.
  mutating func update<Result>(
    _ change: (inout FieldState) -> Result
  ) -> Result {
    var state = state
    // Release the content, so a large state is changed in place.
    content = .register(nil)
    let result = change(&state)
    put(state)
    return result
  }

  /// Applies the edit of a save.
  ///
  /// - Returns: The unobserved writes that the edit superseded, because no
  ///   timestamp is greater than theirs.
  mutating func apply(_ save: EditContext) -> [Siblings<Stamped>.Element] {
    if save.observesAll, hasNoWrite(exceptBy: save.dot.device),
      case .write(let value) = save.edit
    {
      // The general rule below has the same result, several times as slowly.
      self.save = (save.dot, save.time)
      content = .register(value?.canonical)
      return []
    }
    guard isRegister else { return update { $0.apply(save) } }
    // A register without siblings does not need a `FieldState`.
    var field = Causal(siblings, nil)
    let superseded = field.apply(save)
    if let write = field.onlyWrite {
      put(write)
    } else {
      content = .other(FieldState(field))
    }
    return superseded
  }

  /// Returns whether the field is a register without a write of another device.
  private func hasNoWrite(exceptBy device: DeviceID) -> Bool {
    switch content {
    case .register: save.dot.device == device
    case .empty(let kind): kind == .register
    case .other: false
    }
  }

  /// Whether the field is a register with at most one write.
  private var isRegister: Bool {
    switch content {
    case .register, .empty(.register): true
    case .empty, .other: false
    }
  }

  /// Whether the field is a register whose only write belongs to ``save``.
  var isOneWrite: Bool {
    if case .register = content { true } else { false }
  }

  /// The visible value of a register.
  var value: Value? {
    switch content {
    case .register(let value): value
    case .empty: nil
    case .other(let state): state.value
    }
  }

  /// The visible write of a register.
  var write: Siblings<Stamped>.Element? {
    switch content {
    case .register(let value):
      .init(dot: save.dot, payload: Stamped(canonical: value, at: save.time))
    case .empty: nil
    case .other(let state): state.store(of: Siblings<Stamped>.self)?.winner
    }
  }

  /// The writes of a register, or none for a field of another kind.
  var siblings: Siblings<Stamped> {
    switch content {
    case .register(let value):
      Siblings(Stamped(canonical: value, at: save.time), at: save.dot)
    case .empty: Siblings()
    case .other(let state):
      state.store(of: Siblings<Stamped>.self) ?? Siblings()
    }
  }

  /// Returns the number of a device's last save that the field has seen, or
  /// zero.
  func lastSave(of device: DeviceID) -> UInt64 {
    switch content {
    case .register: save.dot.device == device ? save.dot.sequence : 0
    case .empty: 0
    case .other(let state): state.lastSave(of: device)
    }
  }

  /// The marks of a record's existence, or none for any other field.
  var marks: Siblings<ExistenceMark> {
    guard case .other(let state) = content else { return Siblings() }
    return state.store(of: ExistenceMarks.self)?.siblings ?? Siblings()
  }

  /// The saves that the field has seen.
  var clock: VectorClock {
    isOneWrite ? VectorClock(save.dot) : state.clock
  }

  /// Returns whether `clock` contains all saves that the field has seen.
  func isContained(in clock: VectorClock) -> Bool {
    switch content {
    case .register: clock.contains(save.dot)
    case .empty: true
    case .other(let state): state.clock.isContained(in: clock)
    }
  }

  /// The clock of a field without content, or `nil` if the field has content.
  var emptiedClock: VectorClock? {
    guard case .other(let state) = content, state.isEmptied else { return nil }
    return state.clock
  }

  /// Whether the field is a register with more than one sibling.
  var isShared: Bool {
    guard case .other(let state) = content else { return false }
    return (state.store(of: Siblings<Stamped>.self)?.count ?? 0) > 1
  }

  /// The number of elements, devices or entries, or zero if the field cannot be
  /// sent in part.
  var size: Int {
    if case .other(let state) = content { state.size } else { 0 }
  }

  /// An upper bound of the number of bytes that the field takes in a message.
  var byteBound: Int {
    switch content {
    case .register(let value): ByteBound.save + value.byteBound
    case .empty: 0
    case .other(let state): state.byteBound
    }
  }

  /// Whether the field may contain a reference, without a search of sets.
  var mayContainReferences: Bool {
    switch content {
    case .register(let value): value?.isReference == true
    case .empty: false
    case .other(let state): state.mayContainReferences
    }
  }
}
