// SPDX-License-Identifier: Apache-2.0

/// The strategies that are compared.
public enum Strategies {
  /// Every strategy, in the order of the table.
  public static let all: [any Contender] =
    [RecordByTime(), RecordByArrival(), ChangedKeys()] as [any Contender]
    + ChangeTag.all
    + [
      FieldByTime(), AppendOnlyEntries(), RecordPerAttribute(),
      TimestampThenVectorClock(), PendingChanges(), RejoinContender(),
    ]

  /// The strategy called `name`.
  public static func named(_ name: String) -> (any Contender)? {
    all.first { $0.name == name }
  }
}
