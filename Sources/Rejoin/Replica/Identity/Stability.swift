// SPDX-License-Identifier: Apache-2.0

/// What a replica knows of how far the others are, in memory linear in the
/// devices.
///
/// A *mark* is the replica's clock at some moment. When every device on the roster
/// has shown a clock that contains it, what it holds is stable, and the next mark
/// is set.
struct Stability: Sendable {
  private(set) var mark = VectorClock()

  /// The devices that have shown a clock that contains the mark.
  private(set) var passed: Set<DeviceID> = []

  init() {}

  init(mark: VectorClock, passed: Set<DeviceID>) {
    (self.mark, self.passed) = (mark, passed)
  }

  /// Notes that a device has shown a clock.
  mutating func note(
    _ clock: VectorClock, of device: DeviceID, holding held: VectorClock
  ) {
    if mark.isEmpty { (mark, passed) = (held, []) }
    if mark.isContained(in: clock) { passed.insert(device) }
  }

  /// The saves that everybody on the roster holds, where that has become known;
  /// the next mark is then set.
  ///
  /// - Parameters:
  ///   - roster: The devices that are waited for.
  ///   - held: The clock of the replica.
  mutating func advance(
    _ roster: Set<DeviceID>, holding held: VectorClock
  ) -> VectorClock? {
    if roster.isEmpty { return held }
    guard roster.isSubset(of: passed) else { return nil }
    defer { (mark, passed) = (held, []) }
    return mark
  }
}
