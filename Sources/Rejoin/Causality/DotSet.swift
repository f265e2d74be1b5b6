// SPDX-License-Identifier: Apache-2.0

/// A set of dots that a join only tests for membership.
package protocol DotSet {
  /// Returns whether the set contains `dot`.
  func contains(_ dot: Dot) -> Bool
}

/// A set of a single dot.
struct Only: DotSet {
  private let dot: Dot

  init(_ dot: Dot) { self.dot = dot }

  func contains(_ other: Dot) -> Bool { dot == other }
}

/// The set of all dots, for a change that supersedes all present content.
struct Everything: DotSet {
  func contains(_ dot: Dot) -> Bool { true }
}
