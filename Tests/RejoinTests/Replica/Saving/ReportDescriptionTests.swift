// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import Rejoin

@Suite struct ReportDescriptionTests {
  private let replica = Replica.empty(1)
  private let device = DeviceID(1)

  @Test func undoResultDescribesItsSave() throws {
    try replica.save(undoable: "Rename") { $0[Sailor.self, "ada"].name = "Ada" }
    #expect("\(try replica.undo())" == "done: saved as \(Dot(device, 2))")
    #expect("\(try replica.undo())" == "nothing to undo or redo")
  }

  @Test func undoReportNamesUnrevertedFields() throws {
    let report = try replica.save(undoable: "Rename") { transaction in
      transaction[Sailor.self, "ada"].name = "Ada"
      transaction[Sailor.self, "ada"].miles.increment()
    }
    let step = try #require(report.undo)
    #expect(
      "\(step)" == "undo step \"Rename\" of \(Dot(device, 1)) with 3 changes")
    try replica.edit { $0.name = "Countess" }
    let undo = try replica.undo(step)
    #expect(
      "\(undo)"
        == "saved as \(Dot(device, 3)), did not revert Sailor/ada, "
        + "Sailor/ada.name")
  }

  @Test func preventedUndoNamesFields() throws {
    try replica.save(undoable: "Rename") { $0[Sailor.self, "ada"].name = "Ada" }
    try replica.save { $0[Sailor.self, "ada"].delete() }
    let undo = "\(try replica.undo())"
    #expect(undo.hasPrefix("prevented by later changes of Sailor/ada"))
  }

  @Test func emptySaveDescribesNothingToSave() throws {
    #expect("\(try replica.save { _ in })" == "nothing to save")
  }
}
