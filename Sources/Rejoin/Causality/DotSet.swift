// SPDX-License-Identifier: Apache-2.0

/// A set of saves, of which a join asks only whether a dot is in it.
public protocol DotSet {
  /// Whether the save that `dot` names has been seen.
  func contains(_ dot: Dot) -> Bool
}
