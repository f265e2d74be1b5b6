//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// A set of saves, as far as a join asks about it: has this dot been seen?
public protocol DotSet {
  /// Whether the save that `dot` names has been seen.
  func contains(_ dot: Dot) -> Bool
}
