// SPDX-License-Identifier: Apache-2.0

/// A set of saves, of which a join asks only whether a dot is in it.
public protocol DotSet {
  /// Whether the save that `dot` names has been seen.
  func contains(_ dot: Dot) -> Bool
}

/// The set of one save.
struct Only: DotSet {
  private let dot: Dot

  init(_ dot: Dot) { self.dot = dot }

  func contains(_ other: Dot) -> Bool { dot == other }
}

/// The set of all saves, for a change that supersedes whatever there is.
struct Everything: DotSet {
  func contains(_ dot: Dot) -> Bool { true }
}
