// SPDX-License-Identifier: Apache-2.0

/// Receives the fields of a record that is being read.
///
/// A message is first validated with a sink that keeps nothing, and then read
/// whenever it is needed.
protocol FieldSink {
  mutating func begin(_ key: FieldKey)
  mutating func write(_ value: Stamped, at dot: Dot)
  mutating func count(_ entry: Tally.Entry, cancelled: Tally.Entry?)
  /// Begins an element, to which the following marks belong.
  mutating func element(_ element: @autoclosure () -> Value)
  mutating func mark(_ mark: SetMark, at dot: Dot)
  mutating func line(_ line: DeviceEntries, of device: DeviceID)
  mutating func append(_ entry: DeviceEntries.Entry, of device: DeviceID)
  /// Ends the field, whose causal context is `clock`.
  mutating func end(_ clock: @autoclosure () -> VectorClock)
}

/// Discards everything, for validation.
struct Discard: FieldSink {
  mutating func begin(_ key: FieldKey) {}
  mutating func write(_ value: Stamped, at dot: Dot) {}
  mutating func count(_ entry: Tally.Entry, cancelled: Tally.Entry?) {}
  mutating func element(_ element: @autoclosure () -> Value) {}
  mutating func mark(_ mark: SetMark, at dot: Dot) {}
  mutating func line(_ line: DeviceEntries, of device: DeviceID) {}
  mutating func append(_ entry: DeviceEntries.Entry, of device: DeviceID) {}
  mutating func end(_ clock: @autoclosure () -> VectorClock) {}
}

/// Builds the fields of one record.
struct FieldBuilder: FieldSink {
  private(set) var fields: [FieldKey: FieldState] = [:]
  private var key = FieldKey.existence
  private var writes: [Siblings<Stamped>.Element] = []
  private var entries: [Tally.Entry] = []
  private var cancelled: [Tally.Entry] = []
  private var elements: [Value] = []
  private var marks: [[Siblings<SetMark>.Element]] = []
  private var lines: [DeviceID: DeviceEntries] = [:]

  mutating func begin(_ key: FieldKey) { self.key = key }

  mutating func write(_ value: Stamped, at dot: Dot) {
    writes.append(.init(dot: dot, payload: value))
  }

  mutating func count(_ entry: Tally.Entry, cancelled: Tally.Entry?) {
    entries.append(entry)
    if let cancelled { self.cancelled.append(cancelled) }
  }

  mutating func element(_ element: @autoclosure () -> Value) {
    elements.append(element())
    marks.append([])
  }

  mutating func mark(_ mark: SetMark, at dot: Dot) {
    marks[marks.count - 1].append(.init(dot: dot, payload: mark))
  }

  mutating func line(_ line: DeviceEntries, of device: DeviceID) {
    lines[device] = line
  }

  mutating func append(_ entry: DeviceEntries.Entry, of device: DeviceID) {
    lines[device]?.append(entry)
  }

  mutating func end(_ clock: @autoclosure () -> VectorClock) {
    let context = CausalContext(clock())
    fields[key] =
      switch key.kind {
      case .register:
        .register(Causal(store: Siblings(sorted: writes), context: context))
      case .lww:
        .lww(Causal(store: Latest(writes.first), context: context))
      case .counter:
        .counter(
          Causal(
            store: Tally(entries: entries, cancelled: cancelled),
            context: context))
      case .set:
        .set(
          Causal(
            store: members { .init(dot: $0.dot, payload: AddMark()) },
            context: context))
      case .removeWinsSet:
        .removeWinsSet(Causal(store: members { $0 }, context: context))
      case .ledger:
        .ledger(Causal(store: LedgerLines(lines: lines), context: context))
      }
    fields[key]?._checkInvariants()
    writes.removeAll(keepingCapacity: true)
    (entries, cancelled, lines) = ([], [], [:])
    (elements, marks) = ([], [])
  }

  private func members<Payload>(
    _ sibling: (Siblings<SetMark>.Element) -> Siblings<Payload>.Element
  ) -> DotMap<Payload> {
    let siblings = marks.map { Siblings(sorted: $0.map(sibling)) }
    return DotMap(
      Dictionary(uniqueKeysWithValues: zip(elements, siblings)))
  }
}
