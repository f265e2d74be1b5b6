// SPDX-License-Identifier: Apache-2.0

/// The causal relation of two vector clocks.
///
/// Causality is a partial order, which `Comparable` cannot express: two clocks
/// may be concurrent.
public enum CausalOrder: Hashable, Sendable {
  /// The second clock has seen all saves of the first, and more.
  case before

  /// Both clocks have seen the same saves.
  case equal

  /// The first clock has seen all saves of the second, and more.
  case after

  /// Each clock has seen a save that the other clock has not.
  case concurrent
}
