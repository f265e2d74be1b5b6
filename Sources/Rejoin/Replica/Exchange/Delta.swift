// SPDX-License-Identifier: Apache-2.0

/// What one replica sends to another: changed fields, each complete with its
/// clock, and the intervals of saves whose effects they contain.
///
/// A delta may be lost, duplicated, reordered, relayed or split. A field is
/// never wrong because of it, at most out of date.
public struct Delta: Sendable {
  /// The fields of one record.
  public typealias Change = RecordChange

  /// The saves of one device that are in the delta.
  public typealias Interval = SaveInterval

  /// A delta that was decoded keeps its bytes, which take a fraction of the
  /// memory of the values.
  private enum Storage: Sendable {
    /// The changes are sorted by ID, with never two of one record.
    case values([Change], [DeviceID: Interval])
    case bytes(EncodedMessage)
  }

  private let storage: Storage

  /// Creates a delta of changes in any order, never two of one record.
  init(changes: [Change], intervals: [DeviceID: Interval]) {
    storage = .values(changes.sorted { $0.id < $1.id }, intervals)
    _checkInvariants()
  }

  init(_ message: EncodedMessage) { storage = .bytes(message) }

  /// Creates a delta of some records, without intervals.
  ///
  /// Applying it updates their fields and does not advance the version.
  ///
  /// - Precondition: Each change is of another record.
  public init(_ changes: [Change]) {
    storage = .values(changes.sorted { $0.id < $1.id }, [:])
    for (one, next) in zip(self.changes, self.changes.dropFirst()) {
      precondition(
        one.id < next.id,
        "two changes are of \(one.id): expected one change of each record")
    }
  }

  /// The changed records, sorted by ID.
  ///
  /// - Complexity: O(*k*) for *k* fields if the delta was decoded, O(1)
  ///   otherwise.
  public var changes: [Change] {
    if case .values(let changes, _) = storage { return changes }
    var changes: [Change] = []
    visit {
      changes.append($0)
    } interval: { _, _ in
    }
    return changes
  }

  /// For each device, the saves that the delta contains in full.
  ///
  /// - Complexity: As that of ``changes``.
  public var intervals: [DeviceID: Interval] {
    if case .values(_, let intervals) = storage { return intervals }
    var intervals: [DeviceID: Interval] = [:]
    visit { _ in
    } interval: {
      intervals[$0] = $1
    }
    return intervals
  }

  /// The bytes that the delta was decoded from, if it was.
  var message: EncodedMessage? {
    if case .bytes(let message) = storage { message } else { nil }
  }

  /// Calls `change` for each record, sorted by ID, and then `interval` for each
  /// device, sorted.
  ///
  /// Intervals come last because they vouch for the fields before them.
  func visit(
    change: (Change) -> Void, interval: (DeviceID, Interval) -> Void
  ) {
    switch storage {
    case .values(let changes, let intervals):
      for each in changes { change(each) }
      for (device, saves) in intervals.sorted(by: { $0.key < $1.key }) {
        interval(device, saves)
      }
    case .bytes(let message): message.visit(change: change, interval: interval)
    }
  }

  /// For each device, the greatest number in the delta, in fields or intervals.
  var latest: VectorClock {
    switch storage {
    case .values(let changes, let intervals):
      var greatest = intervals.mapValues(\.to.sequence)
      let states = changes.lazy.flatMap(\.fields.values)
      for entry in states.flatMap(\.clock.entries) {
        greatest[entry.device] = max(greatest[entry.device] ?? 0, entry.count)
      }
      return VectorClock(greatest: greatest)
    case .bytes(let message): return message.latest
    }
  }

  /// The number of fields.
  public var fieldCount: Int { changes.reduce(0) { $0 + $1.fields.count } }

  /// Splits the delta into parts with nearly equal numbers of fields.
  ///
  /// A part has no intervals, because it need not contain all effects of a
  /// save. Applying it updates its fields and does not advance the version.
  ///
  /// - Precondition: `count` is positive.
  public func split(into count: Int) -> [Delta] {
    precondition(
      count > 0, "cannot split a delta into \(count) parts: expected 1 or more")
    let fields = changes.flatMap { change in
      change.fields.sorted { $0.key < $1.key }.map {
        (id: change.id, key: $0.key, state: $0.value)
      }
    }
    return (0..<count).map { i in
      let part = fields[
        (i * fields.count / count)..<((i + 1) * fields.count / count)]
      var changes: [RecordID: Change] = [:]
      for field in part {
        changes[field.id, default: Change(id: field.id, fields: [:])]
          .fields[field.key] = field.state
      }
      return Delta(changes: Array(changes.values), intervals: [:])
    }
  }
}

/// A decoded or an encoded delta.
protocol DeltaContent {
  /// Calls `change` for each record, sorted by ID, and then `interval` for each
  /// device, sorted.
  func visit(
    change: (Delta.Change) -> Void,
    interval: (DeviceID, Delta.Interval) -> Void)

  /// For each device, the greatest number in the content, in fields or
  /// intervals.
  var latest: VectorClock { get }
}

extension Delta: DeltaContent {}
extension BorrowedMessage: DeltaContent {}

extension Delta: Hashable {
  /// Whether two deltas have the same changes and intervals, decoded or not.
  public static func == (a: Delta, b: Delta) -> Bool {
    a.intervals == b.intervals && a.changes == b.changes
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(intervals)
    hasher.combine(changes)
  }
}

extension Delta {
  #if REJOIN_CHECK_INVARIANTS
    /// Checks the order of values; bytes were validated when they were decoded.
    private func _checkInvariants() {
      guard case .values(let changes, _) = storage else { return }
      precondition(
        zip(changes, changes.dropFirst()).allSatisfy { $0.id < $1.id },
        "the changes are not sorted by ID, or two are of one record")
    }
  #else
    private func _checkInvariants() {}
  #endif
}
