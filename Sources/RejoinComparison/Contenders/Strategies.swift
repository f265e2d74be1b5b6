// SPDX-License-Identifier: Apache-2.0

/// The strategies to compare.
public enum Strategies {
  /// Every strategy, in the order of the table; Rejoin is the last.
  public static let all: [any Contender] =
    [
      RecordByServerTime(), RecordByDeviceTime(), AllKeys(), ChangedKeys(),
    ] as [any Contender]
    + ChangeTag.all
    + [
      FieldByTime(), AppendOnlyEntries(), RecordPerAttribute(),
      TimestampThenVectorClock(), PendingChanges(), ColumnVersion(),
      AutomergeLike(), ThreeWayHandler(), RejoinContender(),
    ]

  /// Returns the strategy with the given name; `nil` if there is none.
  public static func named(_ name: String) -> (any Contender)? {
    all.first { $0.name == name }
  }
}
