// SPDX-License-Identifier: Apache-2.0

/// The strategies to compare.
public enum Strategies {
  /// Every strategy, in the order of the table, with Rejoin last.
  public static let all: [any Contender] =
    [
      RecordByServerTime(), RecordByDeviceTime(), SyncEngineSample(),
      AllKeys(), ChangedKeys(), IfServerRecordUnchanged(),
      SavedContainer.byRecord, SavedContainer.byProperty, ThreeWayHandler(),
    ] as [any Contender]
    + Container.all
    + [
      FieldByTime.documented, FieldByTime.shipped, AppendOnlyEntries(),
      RecordPerAttribute(),
      TimestampThenVectorClock(), PendingChanges(), ColumnVersion(),
      AutomergeLike(),
    ] + RejoinInContexts.all
    + [RejoinContender(deletion: .deleteWins), RejoinContender()]

  /// Strategies that apps commonly use, and Rejoin with and without a
  /// container's policy.
  public static let usual = [
    "recordByServerTime", "CKSyncEngine sample", "changedKeys",
    "container.mergeByPropertyObjectTrump",
    "rejoin + mergeByPropertyObjectTrump", "handler.threeWay", "rejoin",
  ].compactMap(named)

  /// Returns the strategy with the given name, or `nil` if none has it.
  public static func named(_ name: String) -> (any Contender)? {
    all.first { $0.name == name }
  }
}
