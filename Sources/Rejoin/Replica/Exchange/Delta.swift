// SPDX-License-Identifier: Apache-2.0

/// What one replica tells another: fields, each complete with its clock, and which
/// saves they bring.
///
/// A delta may be lost, doubled, reordered, passed on and split; a field that it
/// touches is never wrong, at most late.
public struct Delta: Sendable {
  /// The fields of one record.
  public typealias Change = RecordChange

  /// The saves of one device that are in the delta.
  public typealias Interval = SaveInterval

  /// A delta that was read is kept as the bytes it came in, which take a fraction
  /// of the room.
  private enum Storage: Sendable {
    case values([Change], [DeviceID: Interval])
    case bytes(EncodedMessage)
  }

  private let storage: Storage

  init(changes: [Change], intervals: [DeviceID: Interval]) {
    storage = .values(changes.sorted { $0.id < $1.id }, intervals)
  }

  init(_ message: EncodedMessage) { storage = .bytes(message) }

  /// Creates a delta of some records, each as a whole or in part, which brings
  /// their fields up to date and advances no clock.
  ///
  /// - Precondition: No record is there twice.
  public init(_ changes: [Change]) {
    self.init(changes: changes, intervals: [:])
    precondition(
      zip(self.changes, self.changes.dropFirst()).allSatisfy { $0.id < $1.id },
      "a record stands twice")
  }

  /// The records with fields that are news, sorted by name.
  ///
  /// - Complexity: O(*k*) for *k* fields, where the delta was read from bytes.
  public var changes: [Change] {
    if case .values(let changes, _) = storage { return changes }
    var changes: [Change] = []
    visit {
      changes.append($0)
    } interval: { _, _ in
    }
    return changes
  }

  /// The news of each device.
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

  /// The bytes that the delta was read from.
  var message: EncodedMessage? {
    if case .bytes(let message) = storage { message } else { nil }
  }

  /// Calls `change` with every record, in order, and then `interval` with the news
  /// of each device, in order.
  func visit(
    change: (Change) -> Void, interval: (DeviceID, Interval) -> Void
  ) {
    switch storage {
    case .values(let changes, let intervals):
      for each in changes { change(each) }
      for (device, news) in intervals.sorted(by: { $0.key < $1.key }) {
        interval(device, news)
      }
    case .bytes(let message): message.visit(change: change, interval: interval)
    }
  }

  /// The greatest number of each device that is in the delta.
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

  /// Cuts the delta into parts with about as many fields each.
  ///
  /// A part carries no interval: applying it brings its fields up to date and
  /// advances no clock.
  ///
  /// - Precondition: `count` is positive.
  public func split(into count: Int) -> [Delta] {
    precondition(count > 0, "a delta is cut into one part or more")
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

/// What is joined: a delta, or bytes that mean one.
protocol DeltaContent {
  /// Calls `change` with every record, in order, and then `interval` with the news
  /// of each device, in order.
  func visit(
    change: (Delta.Change) -> Void,
    interval: (DeviceID, Delta.Interval) -> Void)

  /// The greatest number of each device that is in the content.
  var latest: VectorClock { get }
}

extension Delta: DeltaContent {}
extension BorrowedMessage: DeltaContent {}

extension Delta: Hashable {
  /// Whether two deltas mean the same, whether they were read or made.
  public static func == (a: Delta, b: Delta) -> Bool {
    a.intervals == b.intervals && a.changes == b.changes
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(intervals)
    hasher.combine(changes)
  }
}
