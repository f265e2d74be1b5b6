// SPDX-License-Identifier: Apache-2.0

/// How two vector clocks are related.
///
/// Causality is a partial order, which `Comparable` cannot express: two clocks
/// may be concurrent.
public enum CausalOrder: Hashable, Sendable {
  /// The second clock has seen everything the first has, and more.
  case before

  /// Both clocks have seen the same saves.
  case equal

  /// The first clock has seen everything the second has, and more.
  case after

  /// Each clock has seen a save that the other has not.
  case concurrent
}
