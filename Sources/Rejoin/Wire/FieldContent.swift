// SPDX-License-Identifier: Apache-2.0

/// The content of a field that is being read.
struct FieldContent {
  /// Whether anything is kept.
  let isBuilding: Bool
  private var writes = Siblings<Stamped>()
  private var moreWrites: [Siblings<Stamped>.Element] = []
  private var entries: [Tally.Entry] = []
  private var cancelled: [Tally.Entry] = []
  private var elements: [(key: Value, siblings: Siblings<AddMark>)] = []
  /// The marks of the last element, if it has more than one.
  private var marks: [Siblings<AddMark>.Element] = []
  private var lines: [DeviceID: DeviceEntries] = [:]

  init(isBuilding: Bool) { self.isBuilding = isBuilding }

  mutating func add(_ value: Stamped, at dot: Dot) {
    guard isBuilding else { return }
    // Nearly always there is one, which needs no array.
    if writes.isEmpty { return writes = Siblings(value, at: dot) }
    if moreWrites.isEmpty { moreWrites = Array(writes) }
    moreWrites.append(.init(dot: dot, payload: value))
  }

  mutating func add(_ entry: Tally.Entry, cancelled: Tally.Entry?) {
    guard isBuilding else { return }
    entries.append(entry)
    if let cancelled { self.cancelled.append(cancelled) }
  }

  /// Makes room for the elements of a set.
  mutating func reserve(elements count: Int) {
    if isBuilding { elements.reserveCapacity(count) }
  }

  /// Begins an element, to which the following marks belong.
  mutating func add(element: Value) {
    guard isBuilding else { return }
    endElement()
    elements.append((element, Siblings()))
  }

  mutating func addMark(at dot: Dot) {
    guard isBuilding else { return }
    let last = elements.count - 1
    // Nearly always there is one, which needs no array.
    if elements[last].siblings.isEmpty {
      return elements[last].siblings = Siblings(AddMark(), at: dot)
    }
    if marks.isEmpty { marks = Array(elements[last].siblings) }
    marks.append(.init(dot: dot, payload: AddMark()))
  }

  private mutating func endElement() {
    if marks.isEmpty { return }
    elements[elements.count - 1].siblings = Siblings(sorted: marks)
    marks = []
  }

  mutating func add(_ line: DeviceEntries, of device: DeviceID) {
    guard isBuilding else { return }
    lines[device] = line
  }

  /// The field.
  ///
  /// - Parameter clock: Its causal context; `nil` if the store implies that.
  consuming func state(_ kind: FieldKind, _ clock: VectorClock?) -> FieldState {
    let state: FieldState =
      switch kind {
      case .register:
        .register(
          Causal(
            moreWrites.isEmpty ? writes : Siblings(sorted: moreWrites), clock))
      case .counter:
        .counter(Causal(Tally(entries: entries, cancelled: cancelled), clock))
      case .set: .set(Causal(members(), clock))
      case .ledger: .ledger(Causal(LedgerLines(lines: lines), clock))
      case .existence: .existence(Causal(Siblings(), clock))
      }
    state._checkInvariants()
    return state
  }

  private mutating func members() -> DotMap {
    endElement()
    return DotMap(elements)
  }
}
