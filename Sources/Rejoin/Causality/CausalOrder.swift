// SPDX-License-Identifier: Apache-2.0

/// How two vector clocks are related.
///
/// Causality is a partial order, which `Comparable` cannot express: two clocks
/// may be concurrent.
public enum CausalOrder: Hashable, Sendable {
  /// The first has been seen by the second, which knows more.
  case before

  /// Both have seen the same saves.
  case equal

  /// The first has seen the second and knows more.
  case after

  /// Each has seen a save that the other has not.
  case concurrent
}
