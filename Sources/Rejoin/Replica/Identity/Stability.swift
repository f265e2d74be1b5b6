// SPDX-License-Identifier: Apache-2.0

/// What a replica knows about the versions of the others, in memory linear in
/// the devices.
///
/// A *mark* is the replica's version at some moment. Once every device on the
/// roster has shown a version that contains it, the saves in the mark are
/// stable, and the next mark is set. A matrix clock would know the cut sooner,
/// in memory quadratic in the devices.
struct Stability: Sendable {
  /// The saves that are waited for; always contained in the replica's version.
  private(set) var mark = VectorClock()

  /// The devices that have shown a version that contains the mark, since it was
  /// set.
  ///
  /// Versions only grow, so a device that has passed stays passed.
  private(set) var passed: Set<DeviceID> = []

  /// A device on the roster that must still pass, or `nil` if the roster must be
  /// listed to find one.
  ///
  /// The choice does not matter. A set chooses at random, so few devices that pass
  /// are the awaited one, whatever their order.
  private(set) var awaited: DeviceID?

  init() {}

  init(mark: VectorClock, passed: Set<DeviceID>) {
    (self.mark, self.passed) = (mark, passed)
  }

  /// Notes the version that a device has shown.
  ///
  /// - Parameter held: The version of the replica.
  mutating func note(
    _ clock: VectorClock, of device: DeviceID, holding held: VectorClock
  ) {
    // Every version contains the empty mark of a new replica: passing it would
    // prove nothing.
    if mark.isEmpty { (mark, passed) = (held, []) }
    if mark.isContained(in: clock) {
      passed.insert(device)
      if device == awaited { awaited = nil }
    }
  }

  /// Sets the next mark if every device on the roster has passed the last one.
  ///
  /// - Parameters:
  ///   - roster: The other devices that stability awaits.
  ///   - held: The version of the replica.
  /// - Returns: The saves that have become stable; `nil` if a device has yet to
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
    /// Checks that the mark is contained in what the replica holds.
    func _checkInvariants(holding held: VectorClock) {
      precondition(
        mark.isContained(in: held),
        "the stability mark \(mark) is beyond the version \(held)")
    }
  #else
    func _checkInvariants(holding held: VectorClock) {}
  #endif
}
