// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The ending of an episode under one strategy.
public struct Outcome: Sendable {
  /// The record on each device after the last sync, in the order of arrival, or
  /// `nil` on a device without the record.
  ///
  /// A single state stands for all devices.
  public var states: [PlainRecord?]

  /// The contents that the record's conflict list or history shows, by field.
  ///
  /// `nil` stands for an unset field. If the record does not exist, it shows no
  /// contents. A change of a counter or set counts as kept if one of the
  /// contents shows the whole change, as a listed copy of a record does.
  public var kept: [String: Set<Content?>]

  /// The contents that only an error or a report showed, by field.
  ///
  /// A report is gone after it is read.
  public var reported: [String: Set<Content?>]

  /// The devices that cannot send their edits.
  public var waiting: Set<String> = []

  /// Creates an outcome with one state per device.
  public init(
    states: [PlainRecord?], kept: [String: Set<Content?>] = [:],
    reported: [String: Set<Content?>] = [:]
  ) {
    (self.states, self.kept, self.reported) = (states, kept, reported)
  }

  /// Creates an outcome with the same record on every device.
  public init(
    everywhere state: PlainRecord?, kept: [String: Set<Content?>] = [:]
  ) {
    self.init(states: [state], kept: kept)
  }

  /// Whether all devices synced and show the same record.
  public var agrees: Bool {
    guard waiting.isEmpty else { return false }
    let first = states.first??.visible
    return states.allSatisfy { $0?.visible == first }
  }
}
