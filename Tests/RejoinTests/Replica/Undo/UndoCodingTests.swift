// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Rejoin

/// Undo after a relaunch, of saves that the app stored.
@Suite(.encodes) struct UndoCodingTests {
  private let phone = Replica.empty(1)
  private let watch = Replica.empty(2)
  private let ada = Sailor.ada

  private func text(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  private func relaunched<T: Codable>(_ value: T) throws -> T {
    try JSONDecoder().decode(T.self, from: Data(text(value).utf8))
  }

  private func save(
    on replica: Replica, _ body: (RecordEditor<Sailor>) -> Void
  ) throws -> SaveReport {
    try replica.save { transaction in
      transaction.isUndoable = true
      body(transaction[Sailor.self, "ada"])
    }
  }

  /// Edits a field of every kind after another device wrote it.
  private func editEverything() throws -> SaveReport {
    try watch.edit { ada in
      (ada.name, ada.rank) = ("Countess", "light")
      ada.tags.insert("x")
      ada.miles.increment(by: 7)
      ada.pay.append(9)
    }
    settle(phone, watch)
    return try phone.save { transaction in
      transaction.isUndoable = true
      let ada = transaction[Sailor.self, "ada"]
      (ada.name, ada.rank) = ("Ada", nil)
      ada.tags.remove("x")
      ada.roles.insert("y")
      ada.miles.reset()
      ada.miles.increment(by: 2)
      var pay = LedgerEdit.cancelling
      pay.append(.min, memo: "gift")
      transaction.apply(.append(pay), to: Sailor().pay.key, of: Sailor.ada)
    }
  }

  /// Writes a field concurrently with two other devices.
  private func editConcurrently() throws -> SaveReport {
    let shown = phone.recordForEditing(ada)[Sailor().name.key]
    let tablet = Replica.empty(3)
    for (replica, name) in [(watch, "Countess"), (tablet, "Byron")] {
      try replica.edit { $0.name = name }
    }
    settle(phone, watch, tablet)
    return try phone.save { transaction in
      transaction.isUndoable = true
      transaction.apply(
        .write("Ada"), to: Sailor().name.key, of: ada, observed: shown)
    }
  }

  @Test func decodedUndoUndoesAfterRelaunch() throws {
    let undo = try #require(editEverything().undo)
    let again = Replica.opening(
      try ReplicaState(decoding: phone.state.encoded()),
      token: phone.restoreToken, as: 9)
    let report = try again.undo(relaunched(undo))
    #expect(report.unrevertedFields == [])
    #expect(again.ada?.name == "Countess" && again.ada?.rank == "light")
    #expect(again.ada?.tags == ["x"] && again.ada?.roles == [])
    #expect(again.ada?.miles == 7 && again.ada?.pay == 9)
    try phone.undo(undo)
    #expect(again.delta() == phone.delta())
  }

  @Test func decodedHistoryUndoesAndRedoesAfterRelaunch() throws {
    var history = UndoHistory()
    let names = ["Ada", "Lovelace", "Byron"]
    for name in names {
      history.append(try save(on: phone) { $0.name = name })
    }
    var shown: [String?] = []
    for isRedo in [false, false, true, false, false, true, true, true] {
      history = try relaunched(history)
      let next = try #require(isRedo ? history.redo : history.undo)
      history.append(try phone.undo(next))
      shown.append(phone.ada?.name)
    }
    #expect(
      shown == [
        "Lovelace", "Ada", "Lovelace", "Ada", nil, "Ada", "Lovelace", "Byron",
      ])
  }

  @Test func undoRoundTrips() throws {
    var history = UndoHistory()
    #expect(try relaunched(history) == history)
    history.append(try editEverything())
    for _ in 0..<3 {
      history.append(try save(on: phone) { $0.miles.reset() })
    }
    for _ in 0..<2 {
      let undo = try #require(history.undo)
      #expect(try relaunched(undo) == undo)
      history.append(try phone.undo(undo))
      #expect(try relaunched(history) == history)
    }
    let concurrent = try #require(editConcurrently().undo)
    let others = concurrent.changes.map { change -> Int in
      guard case .writes(let writes) = change.content else { return 0 }
      return writes.others.count
    }
    #expect(others.sorted() == [0, 2])
    #expect(try relaunched(concurrent) == concurrent)
    let nothing = try #require(
      try phone.save { $0.isUndoable = true }.undo)
    #expect(try relaunched(nothing) == nothing)
    #expect(try text(nothing) == #"{"changes":[]}"#)
  }

  @Test func historyTruncatesSavesToLimit() throws {
    let phone = Replica.empty(1)
    for i in 0..<UndoHistory.limit {
      try phone.save(undoable: "\(i)") { $0[Sailor.self, "ada"].name = "\(i)" }
    }
    let saves = phone.undoHistory.done.saves
    let long = UndoHistory(done: saves + saves, undone: [])
    #expect(long == phone.undoHistory)
  }

  @Test func encodedUndoIsReadable() throws {
    _ = try save(on: phone) { $0.tags.insert("x") }
    let report = try save(on: phone) { ada in
      ada.name = "Ada"
      ada.tags.remove("x")
    }
    let device = DeviceID(1).hexadecimal
    let first = #"{"device":"\#(device)","sequence":1}"#
    let dot = #"{"device":"\#(device)","sequence":2}"#
    let digest = phone.version[DeviceID(1)].digest
    let record = #""record":{"entity":"Sailor","key":"ada"}"#
    let save = #""save":{"digest":\#(digest),"dot":\#(dot)}"#
    let superseded = #"{"dot":\#(first),"value":{"bool":true}}"#
    #expect(
      try text(#require(report.undo))
        == #"{"changes":[{"content":{"existence":{"_0":{"after":2,"before":1,"#
        + #""existed":true,"isDeletion":false,"isThere":true,"outlived":[],"#
        + #""uncovered":[],"wasFinal":false}}},"#
        + #""location":{\#(record)},\#(save)},"#
        + #"{"content":{"writes":{"_0":{"isThere":true,"others":[]}}},"#
        + #""location":{"field":{"kind":"register","name":"name"},\#(record)},"#
        + #"\#(save)},"#
        + #"{"content":{"writes":{"_0":{"before":\#(superseded),"#
        + #""isThere":false,"others":[]}}},"location":{"element":{"string":"x"},"#
        + #""field":{"kind":"set","name":"tags"},\#(record)},\#(save)}],"#
        + #""dot":\#(dot)}"#)
  }

  @Test func decodingRefusesInvalidDecision() throws {
    let valid = #"{"decided":4,"turns":1,"canceled":3,"sum":"12"}"#
    func decode(_ text: String) throws -> Cancellation {
      try JSONDecoder().decode(Cancellation.self, from: Data(text.utf8))
    }
    #expect(throws: Never.self) { try decode(valid) }
    for sum in ["+1", "01", "-0", "", "7.0", "a", "\(WideInt.max)0"] {
      #expect(throws: DecodingError.self) {
        try decode(valid.replacing(#""12""#, with: #""\#(sum)""#))
      }
    }
    for (part, wrong) in [
      (#""decided":4"#, #""decided":0"#), (#""canceled":3"#, #""canceled":5"#),
      (#""canceled":3"#, #""canceled":0"#), (#""turns":1"#, #""turns":0"#),
    ] {
      #expect(throws: DecodingError.self) {
        try decode(valid.replacing(part, with: wrong))
      }
    }
  }

  /// The record is edited in a save that the history does not have.
  @Test func historyRoundTripsAfterUndoRewritesDeletion() throws {
    let (id, name) = (RecordID("Berth", "b"), FieldKey("name", .register))
    var history = UndoHistory()
    try phone.save { $0.apply(.write("a"), to: name, of: id) }
    let shown = phone.recordForEditing(id)
    history.append(
      try phone.save { transaction in
        transaction.isUndoable = true
        transaction.delete(id)
      })
    try phone.save {
      $0.ensureExists(id, observed: shown[.existence], recreatingWith: nil)
      $0.apply(.write("b"), to: name, of: id, observed: shown[name])
    }
    history.append(
      try phone.save { transaction in
        transaction.isUndoable = true
        transaction.apply(.write("c"), to: name, of: id)
      })
    history.append(try phone.undo(#require(history.undo)))
    #expect(!phone.exists(id))
    #expect(try relaunched(history) == history)
  }

  /// No undo enrolls or retires a device.
  @Test func undoDoesNotRevertLibraryRecords() throws {
    let id = RecordID(BuiltIn.retirement, watch.device.hexadecimal)
    try watch.edit { $0.name = "Ada" }
    settle(phone, watch)
    let report = try phone.save { transaction in
      transaction.isUndoable = true
      transaction.apply(.write(.int(1)), to: BuiltIn.last, of: id)
    }
    #expect(!phone.roster.contains(watch.device))
    let undo = try relaunched(#require(report.undo))
    let undone = try phone.undo(undo)
    #expect(undone.dot == nil)
    #expect(undone.unrevertedFields.map(\.record) == [id, id])
    #expect(!phone.roster.contains(watch.device))
  }
}
