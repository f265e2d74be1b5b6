// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// How an episode ended under one strategy.
public struct Outcome: Sendable {
  /// The record on each device after all have synced, in the order of arrival;
  /// `nil` on a device where it does not exist.
  ///
  /// A single state stands for all devices.
  public var states: [PlainRecord?]

  /// The values that the record's conflict list or history holds, by register.
  ///
  /// `nil` stands for an unset register.
  public var kept: [String: Set<Value?>]

  /// The values that only an error or a report has told, which is gone once read.
  public var reported: [String: Set<Value?>]

  /// Whether a device cannot send what it has edited, so that what the devices show
  /// can be equal by chance only.
  public var isBlocked = false

  /// Creates an outcome with one state per device.
  public init(
    states: [PlainRecord?], kept: [String: Set<Value?>] = [:],
    reported: [String: Set<Value?>] = [:]
  ) {
    (self.states, self.kept, self.reported) = (states, kept, reported)
  }

  /// Creates an outcome in which every device ends with the same record.
  public init(everywhere state: PlainRecord?, kept: [String: Set<Value?>] = [:])
  {
    self.init(states: [state], kept: kept)
  }

  /// Whether all devices have synced, and show the same record.
  public var agrees: Bool {
    if isBlocked { return false }
    let first = states.first??.visible
    return states.allSatisfy { $0?.visible == first }
  }
}
