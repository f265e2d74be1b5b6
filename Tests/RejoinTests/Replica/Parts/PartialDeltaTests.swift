// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

/// Transfers in parts that stop and continue.
@Suite(.encodes) struct PartialDeltaTests {
  private let phone = Replica.empty(1)
  private let tablet = Replica.empty(2)
  private let newcomer = Replica.empty(9)

  private func write(_ replica: Replica, _ keys: String...) throws {
    try replica.save { transaction in
      for key in keys { transaction[Sailor.self, key].miles.increment(by: 1) }
    }
  }

  private func miles(_ replica: Replica, _ key: String) -> Int64? {
    replica[Sailor.self, key]?.miles
  }

  @Test func partsFollowOrderOfRecords() throws {
    try write(phone, "c", "a", "b")
    #expect(try phone.nextPart(to: newcomer).recordIDs.map(\.key) == ["a"])
    let parts = phone.sendParts(to: newcomer)
    let keys = parts.flatMap(\.recordIDs).map(\.key)
    #expect(keys.filter { $0.count == 1 } == ["a", "b", "c"])
    #expect(areEqual(phone, newcomer))
    #expect(newcomer.version.prefixes.isEmpty)
    #expect(newcomer.version == phone.version)
  }

  /// Deltas below the byte limit, with all records in one save.
  @Test(arguments: [2_000, 2_001, 25_000])
  func partHasLimitedNumberOfRecords(_ count: Int) throws {
    try phone.save { transaction in
      for i in 0..<count {
        transaction.ensureExists(RecordID("Sailor", "\(i)"))
      }
    }
    let parts = phone.sendParts(to: newcomer, bytes: 1 << 24)
    #expect(
      parts.map(\.recordCount)
        == stride(from: 0, to: count, by: 2_000).map {
          min(2_000, count - $0)
        })
    #expect(areEqual(phone, newcomer))
    #expect(newcomer.version == phone.version)
  }

  @Test func partsExtendPrefixBeforeVersion() throws {
    try write(phone, "a", "b", "c")
    newcomer.apply(try phone.nextPart(to: newcomer))
    #expect(newcomer.version.vectorClock.isEmpty)
    let prefix = try #require(newcomer.version.prefixes.first)
    #expect(prefix.through == RecordID("Sailor", "a"))
    #expect(prefix.vectorClock == [phone.device: 1])
    // The prefix covers the field, so the field is not ahead.
    #expect(newcomer.version.fieldsAhead.isEmpty)
    #expect(newcomer.latestMissingSaves == [phone.device: 1])
    newcomer.apply(try phone.nextPart(to: newcomer))
    #expect(
      newcomer.version.prefixes.map(\.through) == [RecordID("Sailor", "b")])
  }

  @Test func otherSenderContinuesTransfer() throws {
    try write(phone, "a", "b", "c", "d")
    phone.tell(tablet)
    newcomer.apply(try phone.nextPart(to: newcomer))
    let next = try tablet.nextPart(to: newcomer)
    #expect(next.recordIDs == [RecordID("Sailor", "b")])
    newcomer.apply(next)
    phone.sendParts(to: newcomer)
    #expect(areEqual(phone, newcomer))
  }

  /// One sender has later saves than the other.
  @Test func senderWithFewerSavesCompletesThem() throws {
    try write(phone, "a", "b", "c")
    phone.tell(tablet)
    try write(phone, "a", "c")
    newcomer.apply(try phone.nextPart(to: newcomer))
    #expect(newcomer.version.prefixes[0].vectorClock == [phone.device: 2])
    tablet.sendParts(to: newcomer)
    #expect(newcomer.version.vectorClock == [phone.device: 1])
    phone.sendParts(to: newcomer)
    #expect(areEqual(phone, newcomer))
  }

  /// Two devices upload at the same time.
  @Test func transfersOfTwoDevicesDoNotInterfere() throws {
    try write(phone, "a", "b", "c")
    try write(tablet, "a", "b", "c")
    var count = 0
    while count < 20 {
      let parts = [phone, tablet].compactMap {
        $0.delta(since: newcomer.version, byteLimit: 1)
      }
      if parts.isEmpty { break }
      for part in parts { newcomer.apply(part) }
      count += 1
    }
    #expect(count < 10)
    #expect(
      newcomer.version.vectorClock == [phone.device: 1, tablet.device: 1])
  }

  /// The sender continues after the first of two ends.
  @Test func partContinuesAtFirstPrefixEnd() throws {
    try write(phone, "a", "b", "c", "d")
    for _ in 0..<3 { newcomer.apply(try phone.nextPart(to: newcomer)) }
    try write(tablet, "a", "b", "d")
    newcomer.apply(try tablet.nextPart(to: newcomer))
    #expect(newcomer.version.prefixes.map(\.through.key) == ["a", "c"])
    phone.tell(tablet)
    let next = try tablet.nextPart(to: newcomer)
    #expect(
      next.range
        == RecordRange(
          after: RecordID("Sailor", "a"), through: RecordID("Sailor", "b")))
    newcomer.apply(next)
    // The longer prefix stays.
    #expect(newcomer.version.prefixes.map(\.through.key) == ["b", "c"])
    tablet.sendParts(to: newcomer)
    #expect(areEqual(tablet, newcomer))
  }

  @Test func savesDuringTransferFollowLastPart() throws {
    try write(phone, "a", "b")
    newcomer.apply(try phone.nextPart(to: newcomer))
    try write(phone, "a", "c")
    let rest = try phone.nextPart(to: newcomer, bytes: 10_000)
    // The part contains the later field of "c", but does not cover its save.
    #expect(rest.intervals[phone.device]?.to.sequence == 1)
    newcomer.apply(rest)
    #expect(newcomer.version.vectorClock == [phone.device: 1])
    #expect(miles(newcomer, "a") == 1)
    phone.sendParts(to: newcomer)
    #expect(miles(newcomer, "a") == 2)
    #expect(areEqual(phone, newcomer))
  }

  @Test func partWithoutItsPrefixReportsGap() throws {
    try write(phone, "a", "b", "c")
    let helper = Replica.empty(3)
    helper.apply(try phone.nextPart(to: helper))
    let second = try phone.nextPart(to: helper)
    let report = newcomer.apply(second)
    let gap = try #require(report.gaps.first)
    #expect(
      gap.device == phone.device && gap.lastAssumedSave == 1
        && gap.lastHeldSave == 0)
    #expect(gap.through == RecordID("Sailor", "a"))
    #expect(newcomer.version.vectorClock.isEmpty)
    #expect(newcomer.version.prefixes.isEmpty)
    #expect(miles(newcomer, "b") == 1)
    // The first time, the field is new.
    #expect(report.hasAdvanced && !newcomer.apply(second).hasAdvanced)
    phone.sendParts(to: newcomer)
    #expect(areEqual(phone, newcomer))
  }

  @Test func partAfterSkippedPartReportsGap() throws {
    try write(phone, "a", "b", "c", "d")
    let helper = Replica.empty(3)
    for one in [helper, newcomer] { one.apply(try phone.nextPart(to: one)) }
    helper.apply(try phone.nextPart(to: helper))
    let report = newcomer.apply(try phone.nextPart(to: helper))
    #expect(report.gaps.map(\.through?.key) == ["b"])
    #expect(newcomer.version.prefixes.map(\.through.key) == ["a"])
    phone.sendParts(to: newcomer)
    #expect(areEqual(phone, newcomer))
  }

  @Test func repeatedPartChangesNothing() throws {
    try write(phone, "a", "b", "c")
    let parts = phone.sendParts(to: newcomer)
    let half = Replica.empty(3)
    for part in parts.prefix(2) {
      half.apply(part)
      let before = half.state.encoded()
      for earlier in parts.prefix(2) where earlier == part {
        #expect(!half.apply(earlier).hasAdvanced)
        #expect(half.state.encoded() == before)
      }
    }
    let before = newcomer.state.encoded()
    for part in parts { #expect(!newcomer.apply(part).hasAdvanced) }
    #expect(newcomer.state.encoded() == before)
  }

  @Test func wholeDeltaEndsPrefix() throws {
    try write(phone, "a", "b")
    newcomer.apply(try phone.nextPart(to: newcomer))
    try write(phone, "a")
    let whole = try #require(phone.delta(since: newcomer.version))
    #expect(whole.range == nil && whole == phone.delta())
    newcomer.apply(whole)
    #expect(newcomer.version == phone.version)
  }

  /// Two replicas with the same prefix send each other nothing.
  @Test func deltaOmitsEqualPrefix() throws {
    try write(phone, "a", "b", "c")
    let other = Replica.empty(3)
    for one in [newcomer, other] { one.apply(try phone.nextPart(to: one)) }
    #expect(newcomer.delta(since: other.version) == nil)
    #expect(newcomer.delta(since: other.version, byteLimit: 1) == nil)
    // A replica with a longer prefix has more to send.
    newcomer.apply(try phone.nextPart(to: newcomer))
    let delta = try #require(newcomer.delta(since: other.version))
    #expect(delta.recordIDs == [RecordID("Sailor", "b")])
    #expect(delta.intervals.isEmpty)
    #expect(newcomer.sendParts(to: other).count == 1)
    #expect(miles(other, "b") == 1)
  }

  @Test func replicaStateStoresPrefix() throws {
    try write(phone, "a", "b", "c")
    let empty = newcomer.state
    newcomer.apply(try phone.nextPart(to: newcomer))
    let stored = try ReplicaState(decoding: newcomer.state.encoded())
    #expect(stored.version == newcomer.state.version)
    newcomer.apply(try phone.nextPart(to: newcomer))
    // A backup continues from its own prefix.
    let restored = Replica.opening(stored, token: nil, as: 8)
    #expect(try phone.nextPart(to: restored).recordIDs.map(\.key) == ["b"])
    phone.sendParts(to: restored)
    #expect(areEqual(phone, restored))
    let earlier = Replica.opening(empty, token: nil, as: 7)
    #expect(try phone.nextPart(to: earlier).range?.after == nil)
  }

  /// A prefix of one history of a device must not continue the other history.
  @Test func forkEndsPrefixOfItsDevice() throws {
    let clone = Replica.empty(1)
    let (early, hub, other) = (
      Replica.empty(3), Replica.empty(4), Replica.empty(5)
    )
    try write(phone, "y")
    phone.tell(newcomer)
    try write(clone, "a", "z")
    clone.tell(early)
    other.apply(try early.nextPart(to: other))
    let last = try early.nextPart(to: other)
    try write(clone, "b", "c")
    clone.tell(hub)
    // The clone's first save counts as received because its number does.
    let first = try hub.nextPart(to: newcomer)
    #expect(first.recordIDs == [RecordID("Sailor", "b")])
    newcomer.apply(first)
    #expect(newcomer.version.prefixes.count == 1)
    // It finds the fork, and still lacks the clone's first save of "a".
    let report = newcomer.apply(last)
    #expect(report.forkedDevices == [phone.device])
    #expect(report.gaps.map(\.through?.key) == ["a"])
    #expect(newcomer.version.prefixes.isEmpty)
    // The field of the prefix is ahead again.
    #expect(newcomer.version.fieldsAhead.count == 1)
    hub.sendParts(to: newcomer)
    for key in ["a", "b", "c", "y", "z"] { #expect(miles(newcomer, key) == 1) }
  }

  /// Only the receiver knows of the fork, so the versions never agree.
  @Test func transferEndsDespiteForkedDevice() throws {
    try write(phone, "a", "b")
    let clone = Replica.opening(phone.state, token: phone.restoreToken, as: 1)
    try write(phone, "a")
    try write(clone, "b")
    phone.tell(newcomer)
    clone.tell(newcomer)
    #expect(newcomer.version.forkedDevices == [phone.device])
    #expect(phone.sendParts(to: newcomer).count < 10)
    #expect(clone.sendParts(to: newcomer).count < 10)
    #expect(miles(newcomer, "a") == 2 && miles(newcomer, "b") == 2)
  }

  /// Above its limit, a version omits the list of fields ahead.
  @Test func transferEndsDespiteManyFieldsAhead() throws {
    try phone.save { transaction in
      for i in 0...ReplicaVersion.fieldsAheadLimit {
        transaction[Sailor.self, "\(i)"].name = "n"
      }
    }
    let fields = try #require(phone.delta()).split(into: 1)[0]
    for one in [tablet, newcomer] { one.apply(fields) }
    #expect(tablet.version.fieldsAhead.isEmpty)
    #expect(tablet.sendParts(to: newcomer, bytes: 20_000).count == 1)
  }

  @Test func onlySingleRecordExceedsLimit() throws {
    for i in 0..<300 {
      try phone.save { transaction in
        let sailor = transaction[Sailor.self, "\(i % 60)"]
        sailor.name = String(repeating: "x", count: i * i % 997)
        for j in 0...(i % 7) { sailor.tags.insert("tag \(i) \(j)") }
      }
    }
    for limit in [1, 200, 1_000, 5_000, 20_000] {
      let receiver = Replica.empty(8)
      let parts = phone.sendParts(to: receiver, bytes: limit)
      #expect(areEqual(phone, receiver))
      for part in parts where byteCount(ofRecordsIn: part) > limit {
        #expect(part.recordIDs.count == 1)
      }
      // Most parts use at least half of the limit.
      let full = parts.count { byteCount(ofRecordsIn: $0) > limit / 2 }
      #expect(full * 3 >= parts.count || parts.count < 4)
    }
    let whole = phone.sendParts(to: newcomer, bytes: .max)
    #expect(whole == [try #require(phone.delta())])
  }

  /// Returns the bytes of a part in addition to the list of its devices.
  private func byteCount(ofRecordsIn part: Delta) -> Int {
    let list = Delta(changes: [], intervals: part.intervals)
    return part.encoded().count - list.encoded().count
  }

  /// The list of devices alone has more bytes than the limit.
  @Test func limitDoesNotCountListOfDevices() throws {
    for number in 100..<400 as Range<UInt64> {
      let other = Replica.empty(number)
      try write(other, "\(number)a", "\(number)b")
      other.tell(phone)
    }
    let limit = 2_000
    let parts = phone.sendParts(to: newcomer, bytes: limit)
    #expect(areEqual(phone, newcomer))
    #expect((2...20).contains(parts.count))
    for part in parts.dropLast() {
      #expect(part.encoded().count > 2 * limit)
      #expect((limit / 2...limit).contains(byteCount(ofRecordsIn: part)))
    }
  }

  /// Many phones stop in the middle of an upload.
  @Test func prefixOfEachDeviceIsSeparate() throws {
    let phones = (100..<140).map { Replica.empty($0) }
    for (i, phone) in phones.enumerated() {
      // Pairs of phones end at the same record.
      try write(phone, "\(10 + i / 2)", "x")
      newcomer.apply(try phone.nextPart(to: newcomer))
    }
    let prefixes = newcomer.version.prefixes
    #expect(prefixes.map(\.through.key) == (10..<30).map { "\($0)" })
    for (i, prefix) in prefixes.enumerated() {
      #expect(
        prefix.vectorClock
          == [phones[2 * i].device: 1, phones[2 * i + 1].device: 1])
    }
    let bytes = newcomer.version.encoded()
    let again = try ReplicaVersion(decoding: bytes)
    #expect(again == newcomer.version && again.encoded() == bytes)
    #expect(again.hashValue == newcomer.version.hashValue)
    // One phone continues, and the prefixes of the others stay.
    phones[6].sendParts(to: newcomer)
    #expect(newcomer.version.vectorClock == [phones[6].device: 1])
    #expect(newcomer.version.prefixes.count == 20)
    #expect(
      newcomer.version.prefixes[3].vectorClock == [phones[7].device: 1])
    #expect(newcomer.version.fieldsAhead.isEmpty)
    #expect(newcomer.latestMissingSaves.entries.count == 39)
  }

  /// A message of one device shortens its prefix, and leaves the others.
  @Test func shorterPrefixUncoversFieldsOfItsDevice() throws {
    for one in [phone, tablet] {
      try write(one, "a", "b", "c", "d")
      for _ in 0..<2 { newcomer.apply(try one.nextPart(to: newcomer)) }
    }
    #expect(newcomer.version.prefixes.map(\.through.key) == ["b"])
    try write(phone, "a", "c")
    // The phone starts again, as for a replica without a prefix.
    newcomer.apply(
      try #require(phone.delta(since: ReplicaVersion(), byteLimit: 1)))
    #expect(newcomer.version.prefixes.map(\.through.key) == ["a", "b"])
    // Only "b" of the phone is ahead.
    #expect(
      Array(newcomer.version.fieldsAhead.values)
        == [[phone.device: 1, tablet.device: 1]])
    for one in [phone, tablet] { one.sendParts(to: newcomer) }
    #expect(newcomer.version.fieldsAhead.isEmpty)
    #expect(miles(newcomer, "a") == 3)
  }

  /// A prefix that both replicas have does not hide one that only the sender
  /// has.
  @Test func wholeDeltaHasPrefixesThatReceiverLacks() throws {
    for one in [phone, tablet] { try write(one, "a", "b") }
    let other = Replica.empty(3)
    for one in [newcomer, other] { one.apply(try phone.nextPart(to: one)) }
    newcomer.apply(try tablet.nextPart(to: newcomer))
    let delta = try #require(newcomer.delta(since: other.version))
    #expect(delta.recordIDs.map(\.key) == ["a"] && delta.intervals.isEmpty)
    other.apply(delta)
    #expect(miles(other, "a") == 2)
    #expect(newcomer.delta(since: other.version) == nil)
  }

  /// The search for many changes and that for few changes find the same parts.
  @Test func bothSearchesFindSameParts() throws {
    try phone.save { transaction in
      for i in 0..<10_100 { transaction[Sailor.self, "\(i)"].name = "n" }
    }
    phone.tell(tablet)
    let before = phone.version
    try phone.save { transaction in
      for i in 0..<10_050 where i % 2 == 0 {
        transaction[Sailor.self, "\(i)"].name = "later"
      }
    }
    // The changes are too many to be looked up one by one, and then few enough.
    let late = ReplicaVersion()
    for (basis, limit) in [(late, 300), (late, 30_000), (before, 30_000)] {
      let part = try #require(phone.delta(since: basis, byteLimit: limit))
      let all = try #require(phone.delta(since: basis)).recordIDs
      #expect(part.recordIDs == Array(all.prefix(part.recordIDs.count)))
      #expect(part.range?.through == part.recordIDs.last)
    }
    phone.sendParts(to: newcomer, bytes: 30_000)
    #expect(areEqual(phone, newcomer))
    phone.sendParts(to: tablet, bytes: 30_000)
    #expect(areEqual(phone, tablet))
  }
}
