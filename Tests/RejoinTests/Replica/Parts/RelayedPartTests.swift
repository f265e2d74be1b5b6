// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Rejoin

/// The order of parts: own saves, other saves, unfinished transfers, and fields
/// ahead of the version.
@Suite(.encodes) struct RelayedPartTests {
  private let phone = Replica.empty(1)
  private let tablet = Replica.empty(2)
  private let laptop = Replica.empty(3)

  private func write(
    _ replica: Replica, _ keys: String..., name: String = "name"
  ) throws {
    try replica.save { transaction in
      for key in keys { transaction[Sailor.self, key].name = name }
    }
  }

  private func names(_ replica: Replica) -> [String?] {
    ["a", "b", "c", "d"].map { replica[Sailor.self, $0]?.name }
  }

  // MARK: Own saves first

  @Test func ownSavesComeBeforeOthers() throws {
    try write(tablet, "a")
    tablet.tell(phone)
    try write(phone, "b")
    // The limit has room for both.
    let parts = phone.sendParts(to: laptop, bytes: 10_000)
    #expect(
      parts.map { Set($0.intervals.keys) } == [[DeviceID(1)], [DeviceID(2)]])
    #expect(parts.map { $0.recordIDs.map(\.key) } == [["b"], ["a"]])
    #expect(areEqual(phone, laptop))
  }

  /// Another device relays them like other saves.
  @Test func savesOfAllKindsOfOwnDevicesComeFirst() throws {
    try write(tablet, "z")
    tablet.tell(phone)
    try phone.importRows { $0[Sailor.self, "a"].name = "imported" }
    try phone.importRows(from: "rest", modifiedAt: 1_750_000_000_000) {
      $0[Sailor.self, "b"].name = "pulled"
    }
    try write(phone, "c")
    let restored = Replica.opening(phone.state, token: nil, as: 7)
    try write(restored, "d")
    #expect(restored.device == DeviceID(7))
    let first = try restored.nextPart(to: laptop, bytes: 10_000)
    #expect(Set(first.intervals.keys).isSuperset(of: restored.ownDevices))
    #expect(first.intervals.keys.filter(\.isImport).count == 1)
    #expect(first.intervals[tablet.device] == nil)
    #expect(
      Set(first.changes.filter { $0.id.entity == "Sailor" }.map(\.id.key))
        == ["a", "b", "c", "d"])
    let relayed = Replica.empty(8)
    restored.tell(relayed)
    try write(relayed, "e")
    #expect(
      Set(try relayed.nextPart(to: laptop, bytes: 10_000).intervals.keys)
        == Set([relayed.device] + first.intervals.keys.filter(\.isImport)))
  }

  @Test func prefixOfOwnSavesContinuesBeforeOthers() throws {
    try write(tablet, "a", "b", "c")
    tablet.sendParts(to: laptop, count: 1)
    tablet.tell(phone)
    try write(phone, "b", "d")
    let parts = phone.sendParts(to: laptop)
    #expect(
      parts.map { Set($0.intervals.keys) }
        == [[phone.device], [phone.device], [tablet.device], [tablet.device]])
    #expect(areEqual(phone, laptop))
  }

  /// A receiver that refuses other devices' saves would refuse the part.
  @Test func partWithSavesHasNoFieldAhead() throws {
    try write(tablet, "a", "b")
    phone.apply(try #require(tablet.delta()).split(into: 2)[0])
    try write(phone, "c")
    let parts = phone.sendParts(to: laptop, bytes: 10_000)
    #expect(parts.map { $0.recordIDs.map(\.key) } == [["c"], ["a"]])
    #expect(parts[1].intervals.isEmpty)
    #expect(laptop.version == phone.version)
    // A delta of all changes has both.
    #expect(phone.delta()?.recordIDs.map(\.key) == ["a", "c"])
  }

  // MARK: Unfinished transfers

  @Test func senderRelaysPrefix() throws {
    try write(phone, "a", "b", "c", "d")
    phone.sendParts(to: tablet, count: 2)
    let parts = tablet.sendParts(to: laptop)
    #expect(parts.flatMap(\.recordIDs).map(\.key) == ["a", "b"])
    #expect(
      parts.map(\.range?.through?.key) == ["a", "b"]
        && parts.map(\.range?.after?.key) == [nil, "a"])
    #expect(laptop.version == tablet.version)
    #expect(areEqual(laptop, tablet))
    #expect(laptop.version.fieldsAhead.isEmpty)
    // The phone returns and continues after the prefix.
    let rest = phone.sendParts(to: laptop)
    #expect(rest.flatMap(\.recordIDs).map(\.key).prefix(2) == ["c", "d"])
    #expect(areEqual(phone, laptop))
  }

  @Test func relayedPrefixContinuesAtEndOfReceiver() throws {
    try write(phone, "a", "b", "c", "d")
    phone.sendParts(to: tablet, count: 3)
    phone.sendParts(to: laptop, count: 1)
    let part = try tablet.nextPart(to: laptop, bytes: 10_000)
    #expect(part.recordIDs.map(\.key) == ["b", "c"])
    #expect(part.range?.after?.key == "a" && part.range?.through?.key == "c")
    laptop.apply(part)
    #expect(laptop.version == tablet.version)
    // Both replicas have the same prefix and send nothing.
    #expect(laptop.delta(since: tablet.version, byteLimit: 1) == nil)
    #expect(tablet.delta(since: laptop.version, byteLimit: 1) == nil)
  }

  @Test func senderDoesNotRelayShorterPrefixOfSameSaves() throws {
    try write(phone, "a", "b", "c", "d")
    phone.sendParts(to: tablet, count: 1)
    phone.sendParts(to: laptop, count: 3)
    #expect(tablet.delta(since: laptop.version, byteLimit: 1) == nil)
  }

  /// A later end counts more than later saves.
  @Test func senderRelaysLongerPrefixOfEarlierSaves() throws {
    try write(phone, "a", "b", "c", "d", name: "1")
    phone.sendParts(to: tablet, count: 3)
    try write(phone, "a", name: "2")
    phone.sendParts(to: laptop, count: 1)
    #expect(laptop.version.prefixes[0].vectorClock == [phone.device: 2])
    // Only the later save is sent, as a field ahead.
    let back = laptop.sendParts(to: tablet)
    #expect(back.map(\.intervals.isEmpty) == [true])
    #expect(names(tablet) == ["2", "1", "1", nil])
    #expect(tablet.version.prefixes[0].vectorClock == [phone.device: 1])
    let parts = tablet.sendParts(to: laptop, bytes: 10_000)
    #expect(parts[0].range?.after?.key == "a")
    #expect(laptop.version == tablet.version)
    #expect(laptop.version.fieldsAhead.count == 1)
    #expect(areEqual(laptop, tablet))
  }

  @Test func senderRelaysLaterSavesOfSameRecords() throws {
    try write(phone, "a", "b", "c", name: "1")
    phone.sendParts(to: tablet, count: 2)
    try write(phone, "a", "b", name: "2")
    phone.sendParts(to: laptop, count: 2)
    let parts = laptop.sendParts(to: tablet, bytes: 10_000)
    #expect(parts.map(\.range?.after) == [nil])
    #expect(laptop.version == tablet.version)
    #expect(areEqual(laptop, tablet))
  }

  /// The receiver has more records of one device than of the other.
  @Test func devicesWithOtherStartFollow() throws {
    let watch = Replica.empty(4)
    try write(phone, "a", "c", "d")
    try write(watch, "b", "c", "d")
    phone.tell(watch)
    let relay = Replica.empty(5)
    watch.tell(relay)
    relay.sendParts(to: tablet, count: 3)
    #expect(tablet.version.prefixes[0].vectorClock.entries.count == 2)
    phone.sendParts(to: laptop, count: 1)
    let parts = tablet.sendParts(to: laptop, bytes: 10_000)
    #expect(
      parts.map { Set($0.intervals.keys) } == [[phone.device], [watch.device]])
    #expect(parts.map(\.range?.after?.key) == ["a", nil])
    #expect(laptop.version == tablet.version)
    #expect(areEqual(laptop, tablet))
  }

  @Test func senderDoesNotRelayPrefixOfCompleteSaves() throws {
    try write(phone, "a", "b")
    phone.sendParts(to: tablet, count: 1)
    phone.tell(laptop)
    #expect(tablet.delta(since: laptop.version, byteLimit: 1) == nil)
  }

  @Test func completeSavesComeBeforePrefixes() throws {
    try write(phone, "a", "b")
    phone.sendParts(to: tablet, count: 1)
    let watch = Replica.empty(4)
    try write(watch, "d")
    watch.tell(tablet)
    let parts = tablet.sendParts(to: laptop, bytes: 10_000)
    #expect(
      parts.map { Set($0.intervals.keys) } == [[watch.device], [phone.device]])
    #expect(names(laptop) == names(tablet))
  }

  @Test func fieldsAheadComeLast() throws {
    try write(phone, "a", "b")
    phone.sendParts(to: tablet, count: 1)
    let watch = Replica.empty(4)
    try write(watch, "c", "d")
    tablet.apply(try #require(watch.delta()).split(into: 2)[1])
    let parts = tablet.sendParts(to: laptop, bytes: 10_000)
    #expect(parts.map { $0.recordIDs.map(\.key) } == [["a"], ["d"]])
    #expect(laptop.version == tablet.version)
  }

  /// The part contains only elements that the receiver lacks.
  @Test func senderRelaysLargeFieldsOfPrefix() throws {
    try phone.save { transaction in
      for i in 0..<100 { transaction[Sailor.self, "a"].tags.insert("\(i)") }
    }
    for other in [tablet, laptop] { phone.tell(other) }
    try phone.save { transaction in
      transaction[Sailor.self, "a"].tags.insert("new")
      transaction[Sailor.self, "b"].name = "name"
    }
    phone.sendParts(to: tablet, count: 1)
    let part = try tablet.nextPart(to: laptop)
    #expect(part.changes[0].fragments.count == 1)
    #expect(!laptop.apply(part).hasFaults)
    #expect(laptop[Sailor.self, "a"]?.tags.contains("new") ?? false)
    #expect(laptop.version == tablet.version)
  }

  /// A receiver with two histories needs all of both.
  @Test func senderDoesNotRelayPrefixOfForkedDevice() throws {
    try write(phone, "a", "b", "c")
    let clone = Replica.opening(
      phone.state, token: RestoreToken(phone.state), as: 7)
    try write(phone, "a", "b", name: "phone")
    try write(clone, "a", "c", name: "clone")
    #expect(phone.device == clone.device)
    phone.tell(laptop)
    clone.tell(laptop)
    #expect(laptop.version.forkedDevices == [phone.device])
    try write(phone, "a", "b", name: "later")
    phone.sendParts(to: tablet, count: 1)
    #expect(tablet.version.prefixes.count == 1)
    let parts = tablet.sendParts(to: laptop)
    #expect(parts.allSatisfy { $0.intervals.isEmpty })
    laptop.sendParts(to: tablet)
    #expect(areEqual(laptop, tablet))
  }

  @Test func senderDoesNotRelayContradictingPrefix() throws {
    try write(phone, "a", "b", "c")
    let clone = Replica.opening(
      phone.state, token: RestoreToken(phone.state), as: 7)
    for other in [tablet, laptop] { phone.tell(other) }
    try write(phone, "a", "b", "c", name: "phone")
    try write(clone, "a", "c", name: "clone")
    phone.sendParts(to: tablet, count: 2)
    clone.sendParts(to: laptop, count: 1)
    #expect(tablet.version.prefixes.map(\.through.key) == ["b"])
    for part in tablet.sendParts(to: laptop) {
      #expect(part.intervals.isEmpty)
    }
  }

  /// The relay sends only the bytes of the unfinished transfer.
  @Test func prefixTravelsOnce() throws {
    try phone.save { transaction in
      for i in 0..<1_000 {
        transaction[Sailor.self, "\(i)"].name = "sailor \(i)"
      }
    }
    let all = try #require(phone.delta()).encoded().count
    let half = try phone.nextPart(to: tablet, bytes: all / 2)
    tablet.apply(half)
    let parts = tablet.sendParts(to: laptop, bytes: all)
    let bytes = parts.reduce(0) { $0 + $1.encoded().count }
    #expect(bytes == half.encoded().count)
    // The version does not list its records.
    #expect(laptop.version.encoded().count < 200)
  }
}
