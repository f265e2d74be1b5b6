// SPDX-License-Identifier: Apache-2.0

/// A set of dots, which a join only tests for membership.
public protocol DotSet {
  /// Whether the set contains `dot`.
  func contains(_ dot: Dot) -> Bool
}
