// SPDX-License-Identifier: Apache-2.0

/// A lattice value that has no clock of its own and is joined under its owners'.
///
/// A dot store remembers by which save each thing it holds was put there. What
/// was removed leaves no tombstone: it is a dot that the clock knows and the
/// store lacks. Almeida, Shoker, Baquero, *Delta State Replicated Data Types*
/// (2018), §7.
public protocol DotStore: Hashable, Sendable {
  /// Creates the store that holds nothing.
  init()

  /// Whether the store holds nothing.
  var isEmpty: Bool { get }

  /// Whether the clock consists of just the dots in the store, as far as that can
  /// be told in constant time. Such a clock need not be stored.
  func impliesContext(_ clock: VectorClock) -> Bool

  /// The clock of the dots in the store.
  var dots: VectorClock { get }

  /// The number of a device's last dot in the store, zero if it has none.
  func lastDot(of device: DeviceID) -> UInt64

  /// Joins `other` into this store.
  ///
  /// - Parameters:
  ///   - other: The other store.
  ///   - seen: The saves that the owner of this store has seen.
  ///   - otherSeen: The saves that the owner of the other store has seen.
  mutating func merge(
    _ other: Self, seen: some DotSet, otherSeen: some DotSet)
}

extension DotStore {
  /// The number of a device's last dot in the store, zero if it has none.
  public func lastDot(of device: DeviceID) -> UInt64 { dots[device] }
}
