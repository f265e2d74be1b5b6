// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Rejoin

/// Undo of saves that reset a counter, cancel a ledger, or create a record
/// again, on several devices.
@Suite(.encodes) struct UndoneCancellationTests {
  private let phone = Replica.empty(1)
  private let watch = Replica.empty(2)
  private let tablet = Replica.empty(3)

  private func expect(
    _ value: Int64?, _ canceling: Canceling,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    settle(phone, watch, tablet)
    for replica in [phone, watch, tablet] {
      #expect(
        canceling.value(on: replica) == value, sourceLocation: sourceLocation)
    }
    #expect(areEqual(phone, watch, tablet), sourceLocation: sourceLocation)
  }

  /// Adds 6 on the watch, which the phone receives.
  private func shareSix(_ canceling: Canceling) throws {
    try canceling.add(6, on: watch)
    settle(phone, watch)
  }

  @Test(arguments: Canceling.allCases, [false, true])
  func twoUndoneCancellationsCountOnce(
    _ canceling: Canceling, undoneBeforeMeeting: Bool
  ) throws {
    try canceling.add(6, on: phone)
    settle(phone, watch)
    for replica in [phone, watch] {
      try canceling.cancel(on: replica)
      if undoneBeforeMeeting { #expect(try replica.undo().left == []) }
    }
    if !undoneBeforeMeeting {
      settle(phone, watch)
      #expect(try phone.undo().left == [])
      phone.tell(watch)
      #expect(try watch.undo().left?.contains(canceling.key.name) == true)
    }
    expect(6, canceling)
  }

  /// Both users cancel and undo before they sync, and then redo.
  @Test(arguments: Canceling.allCases)
  func concurrentRedosCancelOnce(_ canceling: Canceling) throws {
    try canceling.add(6, on: phone)
    settle(phone, watch)
    for replica in [phone, watch] {
      try canceling.cancel(on: replica)
      try replica.undo()
    }
    settle(phone, watch)
    for replica in [phone, watch] { #expect(try replica.redo().left == []) }
    try canceling.add(1, on: tablet)
    expect(1, canceling)
    for replica in [phone, watch] { #expect(try replica.undo().left == []) }
    expect(7, canceling)
  }

  @Test(arguments: Canceling.allCases)
  func undoAndRedoAlternate(_ canceling: Canceling) throws {
    try shareSix(canceling)
    try canceling.cancel(on: phone, adding: 4)
    for _ in 0..<3 {
      #expect(canceling.value(on: phone) == 4)
      #expect(try phone.undo().left == [])
      #expect(canceling.value(on: phone) == 6)
      #expect(try phone.redo().left == [])
    }
    expect(4, canceling)
  }

  /// The undo of a later cancellation leaves the earlier one.
  @Test(arguments: Canceling.allCases)
  func consecutiveUndosRevertOwnCancellations(_ canceling: Canceling) throws {
    let amounts: [Int64] = [1, 20, 300, 4000]
    for (i, amount) in amounts.enumerated() {
      try canceling.add(amount, on: i.isMultiple(of: 2) ? phone : watch)
      settle(phone, watch)
      try canceling.cancel(on: phone)
    }
    for _ in 0..<2 {
      for i in amounts.indices.reversed() {
        #expect(try phone.undo().left == [])
        let value = amounts[i...].reduce(0, +)
        #expect(canceling.value(on: phone) == value)
      }
      for i in amounts.indices {
        #expect(try phone.redo().left == [])
        let value = amounts[(i + 1)...].reduce(0, +)
        #expect(canceling.value(on: phone) == value)
      }
    }
    expect(0, canceling)
  }

  /// Only the first of two resets canceled something.
  @Test func undoOfSecondResetChangesNothing() throws {
    let canceling = Canceling.resettingCounter
    try canceling.add(6, on: phone)
    for _ in 0..<2 { try canceling.cancel(on: phone) }
    #expect(try phone.undo().left == [])
    #expect(canceling.value(on: phone) == 0)
    #expect(try phone.undo().left == [])
    expect(6, canceling)
  }

  @Test(arguments: Canceling.allCases)
  func changesAfterCancellationSurviveItsUndoAndRedo(
    _ canceling: Canceling
  ) throws {
    try shareSix(canceling)
    try canceling.cancel(on: phone)
    try canceling.add(10, on: watch)
    phone.tell(watch)
    try canceling.add(20, on: watch)
    #expect(try phone.undo().left == [])
    expect(36, canceling)
    #expect(try phone.redo().left == [])
    expect(30, canceling)
  }

  /// The amount does not return if another device canceled later changes before
  /// it saw the undo.
  @Test(arguments: [Canceling.resettingCounter, .cancelingLedger])
  func cancellationOfLaterChangesPreventsReturn(_ canceling: Canceling) throws {
    try shareSix(canceling)
    try canceling.cancel(on: phone)
    settle(phone, watch)
    try canceling.add(10, on: watch)
    try canceling.cancel(on: watch)
    #expect(try phone.undo().left == [])
    #expect(canceling.value(on: phone) == 6)
    expect(0, canceling)
    // It returns with the undo of the other cancellation, and once.
    #expect(try watch.undo().left == [])
    expect(10, canceling)
  }

  @Test(arguments: [Canceling.resettingCounter, .cancelingLedger])
  func laterCancellationPreventsUndo(_ canceling: Canceling) throws {
    try shareSix(canceling)
    try canceling.cancel(on: phone, adding: 3)
    settle(phone, watch)
    try canceling.add(10, on: watch)
    try canceling.cancel(on: watch)
    settle(phone, watch)
    let result = try phone.undo()
    #expect(result.isPrevented && result.left == [canceling.key.name])
    expect(0, canceling)
  }

  /// The save's own change stays with its reset.
  @Test(arguments: [Canceling.resettingCounter, .cancelingLedger])
  func preventedUndoLeavesWholeField(_ canceling: Canceling) throws {
    try shareSix(canceling)
    try canceling.cancel(on: phone, adding: 3)
    try canceling.add(10, on: watch)
    try canceling.cancel(on: watch)
    settle(phone, watch)
    #expect(canceling.value(on: phone) == 3)
    let result = try phone.undo()
    #expect(result.isPrevented && result.left == [canceling.key.name])
    expect(3, canceling)
  }

  /// A later reset also canceled the own change.
  @Test(arguments: [Canceling.resettingCounter, .cancelingLedger])
  func undoLeavesFieldWithCanceledOwnChange(_ canceling: Canceling) throws {
    try shareSix(canceling)
    try canceling.cancel(on: phone, adding: 3)
    settle(phone, watch)
    try canceling.cancel(on: watch)
    settle(phone, watch)
    let result = try phone.undo()
    #expect(result.isPrevented && result.left == [canceling.key.name])
    expect(0, canceling)
  }

  @Test(arguments: Canceling.allCases)
  func resetAfterUndoCancelsAgain(_ canceling: Canceling) throws {
    try canceling.add(6, on: watch)
    settle(phone, watch, tablet)
    try canceling.cancel(on: phone)
    #expect(try phone.undo().left == [])
    settle(phone, watch, tablet)
    try canceling.cancel(on: watch)
    expect(0, canceling)
    #expect(try watch.undo().left == [])
    expect(6, canceling)
    // A later save decided, so the redo of the first one is prevented.
    #expect(try phone.redo().left?.contains(canceling.key.name) == true)
    expect(6, canceling)
  }

  /// The undo of the watch returns all that it canceled, although the phone
  /// canceled a part of it as well.
  @Test(arguments: [Canceling.resettingCounter, .cancelingLedger])
  func undoReturnsChangesCanceledByThreeDevices(_ canceling: Canceling) throws {
    try canceling.add(1, on: phone)
    try canceling.add(4, on: watch)
    settle(phone, watch, tablet)
    try canceling.cancel(on: phone)
    phone.tell(tablet)
    try canceling.add(16, on: tablet)
    try canceling.cancel(on: tablet)
    try canceling.add(64, on: watch)
    try canceling.cancel(on: watch)
    #expect(try tablet.undo().left == [])
    #expect(canceling.value(on: tablet) == 16)
    settle(phone, watch, tablet)
    #expect(canceling.value(on: phone) == 16)
    #expect(try watch.undo().left == [])
    expect(85, canceling)
  }

  /// The memos of canceled entries do not return.
  @Test func undoReturnsSumOfLedgerWithoutMemos() throws {
    let canceling = Canceling.cancelingLedger
    try canceling.add(6, on: phone)
    try canceling.cancel(on: phone)
    #expect(try phone.undo().left == [])
    #expect(phone.record(Sailor.ada)?.total(of: FieldKey("pay", .ledger)) == 6)
    #expect(
      phone.record(Sailor.ada)?.entries(of: FieldKey("pay", .ledger)).isEmpty
        == true)
  }

  @Test(arguments: Canceling.allCases)
  func historyRedoesAndUndoesAfterRelaunch(_ canceling: Canceling) throws {
    try shareSix(canceling)
    try canceling.cancel(on: phone, adding: 3)
    #expect(try phone.undo().left == [])
    let again = Replica.opening(
      try ReplicaState(decoding: phone.state.encoded()),
      token: phone.restoreToken, as: 9)
    again.undoHistory = phone.undoHistory
    #expect(try again.redo().left == [])
    #expect(canceling.value(on: again) == 3)
    #expect(try again.undo().left == [])
    #expect(canceling.value(on: again) == 6)
  }

  /// The digests reveal two clones that turn different decisions.
  @Test func digestIncludesTurnedDecision() throws {
    let canceling = Canceling.resettingCounter
    try canceling.add(6, on: phone)
    try canceling.cancel(on: phone)
    let clone = Replica.opening(
      try ReplicaState(decoding: phone.state.encoded()),
      token: phone.restoreToken, as: 9)
    clone.undoHistory = phone.undoHistory
    let undo = try #require(phone.undoHistory.undo)
    var other = undo
    for i in undo.changes.indices {
      guard case .sums(var sums) = undo.changes[i].content else { continue }
      sums.decisions = sums.decisions.map {
        .init(
          device: $0.device, before: Cancellation(upTo: 1, sum: 2),
          after: $0.after)
      }
      other.changes[i].content = .sums(sums)
    }
    #expect(try phone.undo(undo).dot == clone.undo(other).dot)
    #expect(
      phone.version[phone.device].digest != clone.version[phone.device].digest)
  }
}

// Fragments.
extension UndoneCancellationTests {
  /// A receiver that has the changes lacks only the decisions.
  @Test(arguments: Canceling.allCases)
  func fragmentAfterTurnCarriesDecision(_ canceling: Canceling) throws {
    for replica in [phone, watch, tablet] { replica.fragmentSize = 0 }
    try canceling.add(6, on: watch)
    try canceling.add(10, on: phone)
    settle(phone, watch, tablet)
    for step in 0..<6 {
      if step == 0 {
        try canceling.cancel(on: phone)
      } else {
        #expect(
          try (step.isMultiple(of: 2) ? phone.redo() : phone.undo()).left == [])
      }
      let value: Int64 = step.isMultiple(of: 2) ? 0 : 16
      try canceling.add(1, on: tablet)
      #expect(!phone.tell(watch).hasFaults)
      #expect(canceling.value(on: watch) == value + Int64(step))
      #expect(!watch.tell(tablet).hasFaults)
      #expect(!tablet.tell(phone).hasFaults)
      #expect(canceling.value(on: phone) == value + Int64(step) + 1)
    }
    settle(phone, watch, tablet)
    #expect(areEqual(phone, watch, tablet))
  }

  /// The canceled sum is older than the changes of its device.
  @Test(arguments: [Canceling.resettingCounter, .cancelingLedger])
  func fragmentCarriesAllChangesOfDevicesWithDecisions(
    _ canceling: Canceling
  ) throws {
    for replica in [phone, watch, tablet] { replica.fragmentSize = 0 }
    try shareSix(canceling)
    try canceling.cancel(on: phone)
    settle(phone, watch)
    try canceling.add(10, on: watch)
    try canceling.cancel(on: watch)
    settle(phone, watch)
    #expect(try watch.undo().left == [])
    watch.tell(phone)
    #expect(canceling.value(on: phone) == 10)
    // The delta since an empty version contains the changes of the watch once.
    let delta = try #require(phone.delta(since: tablet.version))
    tablet.apply(try Delta(decoding: delta.encoded()))
    #expect(canceling.value(on: tablet) == 10)
    expect(10, canceling)
  }
}
