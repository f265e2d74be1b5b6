// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

@testable import Rejoin
import Testing

@Suite(.encodes) struct ShownWriteTests {
  @Test func writeReturnsAuthorAndTimeOfShownValue() throws {
    let (early, late) = (ManualClock(1000), ManualClock(2000))
    let (a, b) = (
      Replica.empty(1, wallClock: early), Replica.empty(2, wallClock: late)
    )
    try a.edit { ($0.name, $0.rank) = ("a", "a") }
    try b.edit { ($0.name, $0.rank) = ("b", "b") }
    settle(a, b)
    let expected = RegisterWrite(
      dot: Dot(b.device, 1), time: Timestamp(milliseconds: 2000), value: "b")
    for replica in [a, b] {
      #expect(replica.ada?.write(of: \.name) == expected)
      #expect(replica.ada?.write(of: \.rank) == expected)
      #expect(replica.ada?.write(of: \.mentor) == nil)
    }
  }

  @Test func deletionMarkKeepsDotOfItsSave() throws {
    let a = Replica.empty(1)
    try a.edit { $0.name = "a" }
    let dot = try a.edit { $0.delete() }.dot
    let marks = a.recordForEditing(Sailor.ada)[.existence].marks
    #expect(marks.map(\.dot) == [dot])
    #expect(marks.map(\.kind) == [.deletion])
    #expect(
      a.record(Sailor.ada)?.write(of: FieldKey("name", .register))?.dot.sequence
        == 1)
  }

  @Test func unwrittenNullAndUnsetFieldsDiffer() throws {
    let a = Replica.empty(1)
    let key = Sailor().name.key
    try a.edit { $0.ensureExists() }
    #expect(a.record(Sailor.ada)?.write(of: FieldKey("name", .register)) == nil)
    try a.save { $0.apply(.write(.null), to: key, of: Sailor.ada) }
    #expect(
      a.record(Sailor.ada)?.value(of: FieldKey("name", .register)) == .null)
    try a.save { $0.apply(.write(nil), to: key, of: Sailor.ada) }
    #expect(a.record(Sailor.ada)?.value(of: FieldKey("name", .register)) == nil)
    #expect(
      a.record(Sailor.ada)?.write(of: FieldKey("name", .register))?.dot.sequence
        == 3)
  }
}
