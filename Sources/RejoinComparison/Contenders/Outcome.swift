// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// How an episode ended under one strategy.
public struct Outcome: Sendable {
  /// The record on each device after everyone has synced, in the order of
  /// arrival; `nil` where it does not exist.
  ///
  /// One state stands for all devices where they all end with it.
  public var states: [PlainRecord?]

  /// The values that a conflict list, a report or a history still holds, per
  /// register.
  ///
  /// `nil` is an unset register.
  public var kept: [String: Set<Value?>]

  /// Creates the outcome in which each device ends with a state of its own.
  public init(states: [PlainRecord?], kept: [String: Set<Value?>] = [:]) {
    self.states = states
    self.kept = kept
  }

  /// Creates the outcome in which every device ends with the same record.
  public init(everywhere state: PlainRecord?, kept: [String: Set<Value?>] = [:])
  {
    self.init(states: [state], kept: kept)
  }

  /// Whether all devices read the same.
  public var agrees: Bool {
    let first = states.first??.visible
    return states.allSatisfy { $0?.visible == first }
  }
}
