// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification

/// Programs with one kind of field each, which have few configurations.
extension ExplorerProgram {
  private static let a = RecordID("Note", "a")

  private static func about(
    _ kind: FieldKind, times: [Int64] = [0], _ saves: [FieldEdit?]
  ) -> ExplorerProgram {
    let field = FieldKey(kind.rawValue, kind)
    var program = ExplorerProgram(
      kind.rawValue,
      universe: ScriptUniverse(
        schema: Schema(["Note": .init(fields: [field])]),
        records: [a], fields: [field]),
      saves: saves.map { edit in
        [edit.map { .edit(a, field, $0) } ?? .delete(a)]
      })
    program.times = times
    return program
  }

  static let toyRegister = about(
    .register, [.write(.int(1)), .write(.int(2))])
  static let toyTimes = about(
    .register, times: [0, 1],
    [.write(.int(1)), .write(.int(2)), .write(.int(3))])
  static let toyCounter = about(
    .counter, [.count(.init(by: 1)), .count(reset), .count(reset)])
  static let toySet = about(
    .set, [.members(insertion), .members(insertion), .members(removal)])
  static let toyDeletion = about(
    .register, [.write(.int(1)), .write(.int(2)), nil])

  private static let reset = CounterEdit(by: 0, isReset: true)
  private static let insertion = SetEdit(inserting: [.int(1)])
  private static let removal = SetEdit(inserting: [], removing: [.int(1)])
}

extension Hazard {
  /// A program that shows the mistake, or `nil` if no step of the explorer can
  /// show it.
  ///
  /// The explorer fetches no record for a later edit, restores no backup and
  /// purges no record, and its time stands still.
  var program: ExplorerProgram? {
    switch self {
    case .clockThenTimeThenDevice, .wallClockStamps, .deafClock: .toyTimes
    case .tiesByArrival, .losingSiblingsPruned, .mineWinsOnReceive,
      .deltaTakenAsReceived, .fieldClockTakenAsReceived, .identityTravels:
      .toyRegister
    case .unionOfDots, .removalWithoutDot: .toySet
    case .resetAddsNegative: .toyCounter
    case .payloadDroppedDotsKept, .editKeepsDeletions, .deletionCoversItself,
      .deletionCountsAsEdit:
      .toyDeletion
    case .restoredKeepsDevice, .refreshAdvancesDirtyBase,
      .resolutionSupersedesUnseen, .equalFieldsOverwritten, .globalCut,
      .tombstonesForgotten, .clockEntriesExpire, .deletionCoversReplicaClock,
      .deletionCoversUnseen, .deletionsCoverTogether, .purgeCountsAsEdit,
      .purgeCountsAsDeletion, .purgeInOneStep, .unsentSavesIgnored,
      .draftRevivesPurged,
      .contextSupersedesUnseenDeletion, .ruleIgnored:
      nil
    }
  }
}
