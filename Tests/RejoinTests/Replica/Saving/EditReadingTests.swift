// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

private struct Note: Entity {
  let text = register("text", of: String.self)
  let theme = lww("theme", of: String.self)
}

/// Reads within a save, and fields whose timestamps are exhausted.
@Suite(.encodes) struct EditReadingTests {
  private func replica(at now: Int64 = 1000) -> Replica {
    Replica(
      device: DeviceID(1), schema: [Note.self], wallClock: WallClock { now },
      makeDeviceID: { DeviceID(99) })
  }

  @Test func recordDeletedInSaveReadsAsUnset() throws {
    let replica = replica()
    try replica.save { $0[Note.self, "a"].text = "old" }
    try replica.save { transaction in
      #expect(transaction[Note.self, "a"].text == "old")
      transaction[Note.self, "a"].delete()
      #expect(transaction[Note.self, "a"].text == nil)
      transaction[Note.self, "a"].text = "new"
      #expect(transaction[Note.self, "a"].text == "new")
    }
    #expect(replica[Note.self, "a"]?.text == "new")
  }

  /// Returns a replica whose record "bad" has a theme at the maximum timestamp.
  private func exhausted() throws -> Replica {
    let replica = replica(at: .max)
    try replica.save { $0[Note.self, "good"].text = "x" }
    for _ in 0..<65_534 {
      try replica.save { $0[Note.self, "bad"].ensureExists() }
    }
    try replica.save { $0[Note.self, "bad"].theme = "dark" }
    return replica
  }

  @Test func exhaustedFieldDoesNotPreventPurge() throws {
    let other = Replica(
      device: DeviceID(2), schema: [Note.self], wallClock: WallClock { 1000 },
      makeDeviceID: { DeviceID(99) })
    let first = try exhausted()
    other.merge(first)
    try other.save {
      $0[Note.self, "bad"].delete()
      $0[Note.self, "good"].delete()
    }
    first.merge(other)
    other.recordVersion(first.version, of: first.device)
    #expect(try other.purgeDeletedRecords().announcedRecords.count == 2)
    for _ in 0..<2 {
      first.merge(other)
      other.recordVersion(first.version, of: first.device)
    }
    #expect(try other.purgeDeletedRecords().droppedRecords.count == 2)
    #expect(
      other.record(RecordID("Note", "good"))?.value(
        of: FieldKey("text", .register)) == nil)
  }
}
