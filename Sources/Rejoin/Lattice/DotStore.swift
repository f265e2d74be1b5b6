// SPDX-License-Identifier: Apache-2.0

/// A store without its own clock, which is joined under the causal contexts of
/// its owners.
///
/// All content of a dot store is tagged with the dot of the save that wrote it.
/// A removal leaves no tombstone: a dot was removed if the context contains it
/// and the store does not. See Almeida, Shoker, Baquero, *Delta State
/// Replicated Data Types* (2018), §7.
package protocol DotStore: Hashable, Sendable {
  /// Creates an empty store.
  init()

  /// Whether the store is empty.
  var isEmpty: Bool { get }

  /// Returns whether `clock` is known to equal ``dots`` and need not be stored.
  ///
  /// A store may return `false` if a check is not cheap, but must return the
  /// same result for equal stores and clocks.
  func impliesContext(_ clock: VectorClock) -> Bool

  /// Returns whether a clock with only `dot` is known to equal ``dots``.
  func impliesContext(_ dot: Dot) -> Bool

  /// The only dot in the store, or `nil` if the store may contain several or
  /// none.
  var onlyDot: Dot? { get }

  /// Whether a join keeps the last dot of every device in the store.
  ///
  /// If so, and if both stores imply their contexts, the joined store implies
  /// the joined context.
  static var keepsLastDots: Bool { get }

  /// The smallest clock that contains every dot in the store.
  var dots: VectorClock { get }

  /// Returns the greatest sequence number of a device's dots in the store, or
  /// zero if it contains none.
  func lastDot(of device: DeviceID) -> UInt64

  /// Joins `other` into this store.
  ///
  /// - Parameters:
  ///   - other: The other store.
  ///   - seen: The causal context of this store.
  ///   - otherSeen: The causal context of the other store.
  mutating func merge(
    _ other: Self, seen: some DotSet, otherSeen: some DotSet)
}

extension DotStore {
  /// Returns whether a clock with only `dot` is known to equal ``dots``.
  package func impliesContext(_ dot: Dot) -> Bool {
    impliesContext(VectorClock(dot))
  }

  /// The only dot in the store, or `nil` if the store may contain several or
  /// none.
  package var onlyDot: Dot? { nil }

  /// Whether a join keeps the last dot of every device in the store.
  package static var keepsLastDots: Bool { false }

  /// Returns the greatest sequence number of a device's dots in the store, or
  /// zero if it contains none.
  package func lastDot(of device: DeviceID) -> UInt64 { dots[device] }
}
