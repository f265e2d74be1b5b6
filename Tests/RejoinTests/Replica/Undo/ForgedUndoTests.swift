// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Rejoin

/// Undos of steps that no save makes.
///
/// Each test changes the step of a save.
@Suite(.encodes) struct ForgedUndoTests {
  private let phone = Replica.empty(1)
  private let ada = Sailor.ada
  private let decisionKinds: [FieldKey] =
    [FieldKey("miles", .counter), FieldKey("pay", .ledger)]

  /// Returns the step of a save that changes a field of every kind.
  private func step() throws -> UndoStep {
    try phone.edit { ada in
      ada.name = "Countess"
      ada.tags.insert("x")
      ada.miles.increment(by: 7)
      ada.pay.append(9)
    }
    let report = try phone.save { transaction in
      transaction.isUndoable = true
      let ada = transaction[Sailor.self, "ada"]
      ada.name = "Ada"
      ada.tags.remove("x")
      ada.miles.reset()
      transaction.apply(
        .append(.cancelling), to: Sailor().pay.key, of: Sailor.ada)
    }
    return try #require(report.undo)
  }

  /// Returns the only change of a step to a field, or to the existence.
  private func change(
    _ field: String?, of step: UndoStep
  ) throws -> UndoStep.Change {
    try #require(step.changes.first { $0.location.field?.name == field })
  }

  /// Undoes changes, and expects that the replica stays valid.
  @discardableResult
  private func undo(_ changes: UndoStep.Change...) throws -> SaveReport {
    let dot = changes[0].save.dot
    let report = try phone.undo(UndoStep(dot: dot, changes: changes))
    let bytes = phone.state.encoded()
    #expect(try ReplicaState(decoding: bytes).encoded() == bytes)
    let watch = Replica.empty(2)
    settle(phone, watch)
    #expect(areEqual(phone, watch))
    return report
  }

  /// Expects that the undo of a change leaves its field.
  private func expectLeft(
    _ change: UndoStep.Change, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let report = try undo(change)
    #expect(report.dot == nil, sourceLocation: sourceLocation)
    let field = FieldLocation(
      record: change.location.record, field: change.location.key)
    #expect(report.unrevertedFields == [field], sourceLocation: sourceLocation)
  }

  @Test func undoLeavesContentOfAnotherKind() throws {
    let step = try step()
    for own in step.changes {
      for other in step.changes where own.location != other.location {
        var change = own
        change.content = other.content
        if change.isOfField { continue }
        try expectLeft(change)
        let history = UndoHistory(
          done: [UndoStep(dot: step.dot, changes: [change])], undone: [])
        #expect(history == UndoHistory())
      }
    }
  }

  @Test func undoLeavesElementOfRegisterAndSetWithoutElement() throws {
    for own in try step().changes {
      let location = UndoStep.Location(
        record: ada, field: own.location.field,
        element: own.location.element == nil ? "x" : nil)
      try expectLeft(
        .init(location: location, save: own.save, content: own.content))
    }
  }

  @Test func undoLeavesSaveNumberedZero() throws {
    for device in [1, 7] {
      for var change in try step().changes {
        change.save = .init(dot: Dot(DeviceID(UInt64(device)), 0), digest: 0)
        try expectLeft(change)
      }
    }
  }

  @Test func undoLeavesDecisionsOutOfOrder() throws {
    let step = try step()
    for key in decisionKinds {
      var change = try change(key.name, of: step)
      guard case .sums(let sums) = change.content else {
        return #expect(Bool(false))
      }
      let (device, after) = (sums.decisions[0].device, sums.decisions[0].after)
      let (decided, sum) = (after.decided, after.sum)
      for before in [
        after, Cancellation(upTo: decided + 1, sum: 0),
        Cancellation(decided: decided, turns: 1, canceled: decided, sum: sum),
        Cancellation(upTo: .max, sum: .max),
      ] {
        change.content = .sums(
          .init(
            first: sums.first, amounts: [],
            decisions: [.init(device: device, before: before, after: after)]))
        try expectLeft(change)
      }
    }
  }

  /// The decisions of a replica with many changes allow more.
  @Test(arguments: [FieldKind.counter, .ledger])
  func undoLeavesSumOutOfRange(_ kind: FieldKind) throws {
    let key = try #require(decisionKinds.first { $0.kind == kind })
    for _ in 0..<3 {
      try phone.save { $0.apply(kind.edit(adding: 1), to: key, of: ada) }
    }
    let report = try phone.save { transaction in
      transaction.isUndoable = true
      transaction.apply(kind.canceling, to: key, of: ada)
    }
    var change = try change(key.name, of: #require(report.undo))
    guard case .sums(var sums) = change.content else {
      return #expect(Bool(false))
    }
    let after = sums.decisions[0].after
    // Two changes have the sum of at most two amounts.
    let limit: WideInt =
      kind == .counter ? WideInt(UInt64.max) : WideInt(high: 1, low: 0)
    for (sum, isLeft) in [(limit + 1, true), (limit, false)] {
      sums.decisions = [
        .init(
          device: phone.device, before: Cancellation(upTo: 2, sum: sum),
          after: after)
      ]
      change.content = .sums(sums)
      if isLeft {
        try expectLeft(change)
      } else {
        #expect(try undo(change).unrevertedFields == [])
      }
    }
  }

  @Test func undoOfUnsortedAndRepeatedChangesKeepsReplicaValid() throws {
    let step = try step()
    var forged = step
    forged.changes = step.changes.reversed() + step.changes
    phone.undoHistory = UndoHistory(done: [step, forged], undone: [])
    for _ in 0..<2 { try phone.undo() }
    for _ in 0..<2 { try phone.redo() }
    for change in step.changes { try undo(change, change) }
  }

  /// Two copies of a change would exceed the range of the counter.
  @Test func undoLeavesRepeatedChange() throws {
    let report = try phone.save { transaction in
      transaction.isUndoable = true
      transaction[Sailor.self, "ada"].miles.decrement(by: .max)
    }
    try phone.edit { $0.miles.increment(by: .max) }
    let change = try change("miles", of: #require(report.undo))
    let undone = try undo(change, change)
    #expect(undone.unrevertedFields.map(\.field.name) == ["miles"])
    #expect(phone.ada?.miles == .max)
  }

  /// A save with such a key would throw.
  @Test(arguments: ["", String(repeating: "k", count: Limits.keyBytes + 1)])
  func undoLeavesRecordOfInvalidKey(_ key: String) throws {
    let change = try change(nil, of: step())
    try expectLeft(
      .init(
        location: .init(record: RecordID("Sailor", key), field: nil),
        save: change.save,
        content: .existence(
          .init(
            existed: true, isThere: false, isDeletion: false,
            covered: VectorClock(change.save.dot), uncovered: VectorClock(),
            superseded: nil, wasFinal: false, outlived: [], before: 0,
            after: 0))))
  }

  @Test func undoOfOtherWritesKeepsReplicaValid() throws {
    let step = try step()
    let zero = Dot(phone.device, 0)
    for name in ["name", "tags"] {
      let change = try change(name, of: step)
      let value: Value? = name == "name" ? nil : 1
      for before in [
        UndoStep.Before(value: value, time: nil, dot: nil),
        .init(value: value, time: Timestamp(rawValue: 0), dot: zero), nil,
      ] {
        for isThere in [false, true] {
          var change = change
          change.content = .writes(
            .init(isThere: isThere, before: before, others: [zero, zero]))
          try undo(change)
        }
      }
    }
  }

  @Test func undoOfOtherExistenceKeepsReplicaValid() throws {
    let change = try change(nil, of: step())
    let unknown = VectorClock(Dot(DeviceID(7), 5))
    let zero = Dot(phone.device, 0)
    for flags in 0..<16 {
      for number in [0, 2, UInt64.max] {
        var change = change
        change.content = .existence(
          .init(
            existed: flags & 1 != 0, isThere: flags & 2 != 0,
            isDeletion: flags & 4 != 0,
            covered: flags & 8 != 0 ? unknown : nil, uncovered: unknown,
            superseded: zero, wasFinal: flags & 4 != 0,
            outlived: [zero, zero], before: number, after: number))
        try undo(change)
      }
    }
  }

  @Test func undoLeavesRecordOfLongName() throws {
    let change = try change("name", of: step())
    let long = String(repeating: "e", count: 2 * Limits.nameBytes)
    for id in [RecordID(long, "k"), RecordID("", "")] {
      try expectLeft(
        .init(
          location: .init(record: id, field: change.location.field),
          save: change.save, content: change.content))
    }
  }

  /// A history without an undoable save shows no name.
  @Test func historyOmitsStepsWithoutSave() throws {
    let text = #"{"changes":[]}"#
    let zero = #"{"dot":{"device":"\#(DeviceID(1).hexadecimal)","sequence":0},"#
    let history = try JSONDecoder().decode(
      UndoHistory.self,
      from: Data(
        (#"{"done":[\#(text)],"undone":[\#(zero)"changes":[]}]}"#).utf8))
    #expect(history == UndoHistory())
  }

  @Test func undoOfStepWithoutChangesRemovesStep() throws {
    let step = UndoStep(dot: Dot(phone.device, 5))
    phone.undoHistory = UndoHistory(done: [step], undone: [step])
    guard case .done(let report) = try phone.undo(),
      case .done = try phone.redo()
    else { return #expect(Bool(false)) }
    #expect(report.dot == nil && phone.undoHistory == UndoHistory())
  }
}
