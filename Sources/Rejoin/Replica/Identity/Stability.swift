// SPDX-License-Identifier: Apache-2.0

/// The known progress of other devices, in memory linear in the number of
/// devices.
///
/// A *mark* is the replica's version at some moment. When every device on the
/// roster has passed it, the saves in the mark are stable, and the next mark is
/// set. A device passes by showing a version that contains the mark, after the
/// replica received the device's own saves in this version. An edit that its
/// author made before it saw a stable deletion is therefore never missing. A
/// matrix clock would find the cut sooner, in memory quadratic in the number of
/// devices.
struct Stability: Sendable {
  /// The awaited saves, which the replica's version always contains.
  private(set) var mark = VectorClock()

  /// The devices that passed the mark.
  ///
  /// Versions only grow, so a device that passed stays passed.
  private(set) var passed: Set<DeviceID> = []

  /// A device on the roster that must still pass, or `nil` if it must be found.
  ///
  /// The choice does not matter. A set chooses at random, so few devices that
  /// pass are the awaited one, regardless of their order.
  private(set) var awaited: DeviceID?

  init() {}

  init(mark: VectorClock, passed: Set<DeviceID>) {
    (self.mark, self.passed) = (mark, passed)
  }

  /// Records the version that a device showed.
  ///
  /// - Parameters:
  ///   - held: The version of the replica.
  ///   - mayPass: Whether the device passes if `clock` contains the mark.
  mutating func record(
    _ clock: VectorClock, of device: DeviceID, holding held: VectorClock,
    mayPass: Bool
  ) {
    // Every version contains the empty mark of a new replica, so passing it
    // does not prove anything.
    if mark.isEmpty { (mark, passed) = (held, []) }
    if mayPass, mark.isContained(in: clock) {
      passed.insert(device)
      if device == awaited { awaited = nil }
    }
  }

  /// Sets the next mark if every device on the roster passed the last one.
  ///
  /// - Parameters:
  ///   - roster: The other devices that stability awaits.
  ///   - held: The version of the replica.
  /// - Returns: The saves that are now stable, or `nil` if a device must still
  ///   pass.
  mutating func advance(
    _ roster: Set<DeviceID>, holding held: VectorClock
  ) -> VectorClock? {
    awaited = roster.first { !passed.contains($0) }
    if roster.isEmpty { return held }
    guard awaited == nil else { return nil }
    defer { (mark, passed) = (held, []) }
    return mark
  }
}

extension Stability {
  #if REJOIN_CHECK_INVARIANTS
    /// Checks that the replica's version contains the mark.
    func _checkInvariants(holding held: VectorClock) {
      precondition(
        mark.isContained(in: held),
        "the stability mark \(mark) is beyond the version \(held)")
    }
  #else
    func _checkInvariants(holding held: VectorClock) {}
  #endif
}
