// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

/// Messages whose bytes are validated once.
@Suite struct ValidatedMessageTests {
  private func delta() throws -> Delta {
    let replica = Replica.empty(1)
    try replica.save { transaction in
      for key in ["ada", "bob", "eve"] {
        transaction[Sailor.self, key].name = key
        transaction[Sailor.self, key].tags.insert("a")
      }
    }
    return try #require(replica.delta())
  }

  /// A second validation would refuse the wrong checksum.
  @Test func readingDoesNotValidateAgain() throws {
    let valid = try delta()
    let bytes = valid.encoded().flipping(valid.encoded().count * 8 - 1)
    #expect(throws: WireError.self) { try Delta(decoding: bytes) }
    let delta = Delta(ValidatedMessage(bytes, valid.message.head))
    #expect(delta.fieldCount == 6)
    #expect(delta.recordIDs.map(\.key) == ["ada", "bob", "eve"])
    #expect(delta.changes == valid.changes)
    #expect(delta.intervals[DeviceID(1)]?.to.sequence == 1)
    #expect(delta.encoded() == bytes)
    let (one, other) = (Replica.empty(2), Replica.empty(3))
    one.apply(delta)
    other.apply(valid)
    #expect(one.delta() == other.delta())
  }

  @Test func writtenHeadEqualsReadHead() throws {
    for written in WireCorpus.shared.deltas {
      let read = try Delta(decoding: written.encoded())
      let (mine, theirs) = (written.message.head, read.message.head)
      #expect(mine.fieldCount == theirs.fieldCount)
      #expect(mine.recordCount == theirs.recordCount)
      #expect(written.changes == read.changes)
      #expect(written.intervals == read.intervals)
      let devices = theirs.saves.lines.map(\.device)
      #expect(mine.saves.lines.map(\.device) == devices)
      for device in devices {
        #expect(
          mine.saves.latest(of: device) == theirs.saves.latest(of: device))
      }
    }
  }

  @Test func rangeContainsAllRecords() throws {
    let delta = try delta()
    func isRead(_ after: String?, _ through: String?) throws -> Bool {
      let range = RecordRange(
        after: after.map { RecordID("Sailor", $0) },
        through: through.map { RecordID("Sailor", $0) })
      let bytes = Delta(
        changes: delta.changes, intervals: delta.intervals, range: range
      ).encoded()
      guard let read = try? Delta(decoding: bytes) else { return false }
      #expect(read.message.head.range == range)
      #expect(read.encoded() == bytes)
      return true
    }
    #expect(try isRead(nil, "eve"))
    #expect(try isRead("a", nil))
    #expect(try isRead("a", "f"))
    #expect(try !isRead("ada", nil))
    #expect(try !isRead(nil, "ev"))
    #expect(try !isRead("f", "a"))
    #expect(try !isRead("z", "z"))
    #expect(try !isRead(nil, nil))
  }

  @Test func deltaOfRangeDoesNotAdvanceVersion() throws {
    let delta = try delta()
    let part = Delta(
      changes: delta.changes, intervals: delta.intervals,
      range: RecordRange(after: nil, through: RecordID("Sailor", "eve")))
    let replica = Replica.empty(2)
    replica.apply(try Delta(decoding: part.encoded()))
    #expect(
      replica.record(Sailor.ada)?.value(of: FieldKey("name", .register))
        == "ada")
    #expect(replica.version.vectorClock.isEmpty)
    replica.apply(delta)
    #expect(replica.version[DeviceID(1)].sequence == 1)
  }

  @Test func versionPrefixIsReadAsWritten() throws {
    let replica = Replica.empty(1)
    try replica.edit { $0.name = "Ada" }
    var version = replica.version
    version.prefixes = [
      .init(
        through: Sailor.ada,
        saves: [
          DeviceID(2): DeviceSave(
            sequence: 7, time: Timestamp(rawValue: 9), digest: 5, isForked: true
          ),
          DeviceID(3): DeviceSave(sequence: 1, time: .zero, digest: 0),
        ])
    ]
    let bytes = version.encoded()
    let read = try ReplicaVersion(decoding: bytes)
    #expect(read == version && read.prefixes == version.prefixes)
    #expect(read.encoded() == bytes)
  }
}
