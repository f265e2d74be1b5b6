// SPDX-License-Identifier: Apache-2.0

/// A store without a clock of its own, joined under the causal contexts of its
/// owners.
///
/// Everything in a dot store is tagged with the dot of the save that wrote it.
/// A removal leaves no tombstone: what was removed is a dot that the context
/// contains and the store lacks. Almeida, Shoker, Baquero, *Delta State
/// Replicated Data Types* (2018), §7.
package protocol DotStore: Hashable, Sendable {
  /// Creates an empty store.
  init()

  /// Whether the store is empty.
  var isEmpty: Bool { get }

  /// Whether `clock` is known to equal ``dots``, so that it need not be stored.
  ///
  /// A store may answer `false` where finding out is not cheap, but must answer
  /// the same for equal stores and clocks.
  func impliesContext(_ clock: VectorClock) -> Bool

  /// Whether a clock with `dot` alone is known to equal ``dots``.
  func impliesContext(_ dot: Dot) -> Bool

  /// The only dot in the store, if it is known that there is just one.
  var onlyDot: Dot? { get }

  /// Whether a join leaves the last dot of every device in the store, so that
  /// two contexts that their stores imply have a join that is implied.
  static var keepsLastDots: Bool { get }

  /// The smallest clock that contains every dot in the store.
  var dots: VectorClock { get }

  /// The greatest sequence number of a device's dots in the store; zero if it
  /// has none.
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
  /// Whether a clock with `dot` alone is known to equal ``dots``.
  package func impliesContext(_ dot: Dot) -> Bool {
    impliesContext(VectorClock(dot))
  }

  /// The only dot in the store, if it is known that there is just one.
  package var onlyDot: Dot? { nil }

  /// Whether a join leaves the last dot of every device in the store.
  package static var keepsLastDots: Bool { false }

  /// The greatest sequence number of a device's dots in the store; zero if it
  /// has none.
  package func lastDot(of device: DeviceID) -> UInt64 { dots[device] }
}
