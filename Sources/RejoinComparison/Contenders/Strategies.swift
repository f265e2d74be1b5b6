// SPDX-License-Identifier: Apache-2.0

/// The strategies to compare.
public enum Strategies {
  /// Every strategy, in the order of the table; Rejoin is the last.
  public static let all: [any Contender] =
    [
      RecordByServerTime(), RecordByDeviceTime(), AllKeys(), ChangedKeys(),
      IfServerRecordUnchanged(), ThreeWayHandler(),
    ] as [any Contender]
    + Container.all
    + [
      FieldByTime(), AppendOnlyEntries(), RecordPerAttribute(),
      TimestampThenVectorClock(), PendingChanges(), ColumnVersion(),
      AutomergeLike(),
    ] + RejoinInContexts.all
    + [RejoinContender(deletion: .deleteWins), RejoinContender()]

  /// What an app is likely to have, and Rejoin.
  public static let usual = all.filter {
    [
      "recordByServerTime", "changedKeys",
      "container.mergeByPropertyObjectTrump", "handler.threeWay", "rejoin",
    ].contains($0.name)
  }

  /// Returns the strategy with the given name; `nil` if there is none.
  public static func named(_ name: String) -> (any Contender)? {
    all.first { $0.name == name }
  }
}
