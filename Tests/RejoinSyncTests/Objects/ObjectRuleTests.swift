// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinTesting
import Testing
import _RejoinVerification

@testable import Rejoin
@testable import RejoinSync

/// Devices that meet in a bucket or in a drive, one test for each rule.
@Suite struct ObjectRuleTests {
  // Rule 1.
  @Test func objectWithLastSavesIsReadFirst() throws {
    var place = ObjectPlace(devices: 2)
    var absorbed: [String: [UInt8]] = [:]
    for i in 0..<9 {
      try place.write("\(i)", on: 0)
      try place.pass(0)
      absorbed.merge(place.storage.objects) { $1 }
    }
    // The objects that were absorbed come back, as from a drive that is late.
    for (name, bytes) in absorbed { place.storage.put(name, bytes, by: 0) }
    let least = place.names.count
    #expect(try place.pass(1).read < least)
    #expect(place.elements(1).count == 9)
    #expect(try place.pass(1).read == 0)
  }

  @Test func objectAfterHoleWaits() throws {
    var place = ObjectPlace(devices: 2)
    try place.write("large \(String(repeating: "x", count: 900))", on: 0)
    try place.pass(0)
    try place.write("small", to: "2", on: 0)
    try place.pass(0)
    #expect(place.names.count == 2)
    let first = place.names[0]
    let bytes = try #require(place.storage.objects[first])
    // Without versions, the other object is read for its scope, and for nothing else.
    let second = place.names[1]
    for name in place.storage.objects.keys where name != second {
      place.storage.lose(name)
    }
    #expect(try place.pass(1, publishes: false).read == 0)
    #expect(place.elements(1, of: "2").isEmpty)
    // The gap closes when the missing file arrives.
    place.storage.put(first, bytes, by: 0)
    #expect(try place.pass(1, publishes: false).read == 2)
    #expect(place.elements(1, of: "2") == ["small"])
  }

  // Rule 2.
  @Test func fileThatIsNotHereIsNotUploadedAgain() throws {
    var place = ObjectPlace(drive: true, devices: 3)
    try place.write("Milk", on: 0)
    try place.pass(0)
    place.storage.settle()
    try place.pass(1)
    for name in place.names {
      place.storage.setEvicted(true, name, on: 1)
      place.storage.setEvicted(true, name, on: 2)
    }
    for i in [1, 2] {
      place.days(2)
      let pass = try place.pass(i)
      #expect(pass.stored.filter { $0.interval != nil } == [])
      #expect(pass.deleted.filter { $0.interval != nil } == [])
    }
    for name in place.names { place.storage.setEvicted(false, name, on: 2) }
    try place.pass(2)
    #expect(place.elements(2) == ["Milk"])
  }

  // Rule 3.
  @Test func savesOfOthersWaitTenMinutes() throws {
    var place = ObjectPlace(devices: 2)
    try place.write("Milk", on: 0)
    // They met elsewhere, and the first device never reaches the storage.
    let delta = try #require(place.devices[0].replica.delta())
    place.devices[1].replica.apply(delta)
    #expect(try place.pass(1).stored == [])
    place.clock.now += 19 * ObjectPlace.minute
    // A process that lives for seconds keeps the time.
    place.restart(1)
    #expect(try place.pass(1).stored == [])
    place.clock.now += ObjectPlace.minute
    place.restart(1)
    let stored = try place.pass(1).stored
    #expect(stored.map(\.device) == [place.devices[0].replica.device])
    // The other device finds its saves there.
    #expect(try place.pass(0).stored.filter { $0.interval != nil } == [])
  }

  // Rule 4.
  @Test func savesOfLostDeviceUnderPrefixTravel() throws {
    var place = ObjectPlace(devices: 3)
    try place.devices[0].replica.save { transaction in
      for key in ["1", "2", "3"] {
        transaction[PlacedNote.self, key].elements.insert("Milk")
      }
    }
    // One device gets a part of the save, and the author is lost.
    let part = try #require(
      place.devices[0].replica.delta(
        since: place.devices[1].replica.version, byteLimit: 1))
    place.devices[1].replica.apply(part)
    #expect(!place.devices[1].replica.version.prefixes.isEmpty)
    try place.write("Rye", to: "4", on: 1)
    try place.pass(1)
    try place.pass(2)
    #expect(place.elements(2) == ["Milk"])
    #expect(place.elements(2, of: "4") == ["Rye"])
    #expect(place.elements(2, of: "2") == [])
  }

  // Rule 5.
  @Test func objectsStayFew() throws {
    var place = ObjectPlace(devices: 1)
    var deltas = 0
    for i in 0..<1_000 {
      let before = place.devices[0].replica.version
      try place.write("text", to: "\(i)", on: 0)
      deltas +=
        place.devices[0].replica.delta(since: before)?.encoded().count ?? 0
      try place.pass(0)
    }
    #expect(place.names.count <= 12)
    #expect(place.storage.byteCount <= 10 * deltas)
    // Each is more than twice as large as the next one.
    let sizes = place.names.compactMap { place.storage.objects[$0]?.count }
    #expect(zip(sizes, sizes.dropFirst()).allSatisfy { $0 > $1 })
  }

  // Rule 6.
  @Test func driveDeletesBeforeItUploadsAndTheDiskDies() throws {
    var place = ObjectPlace(drive: true, devices: 2)
    try place.write("Milk", on: 0)
    try place.pass(0)
    place.storage.settle()
    try place.write("Rye", on: 0)
    try place.pass(0)
    // The new file contains the first one, which must stay until it arrived elsewhere.
    #expect(try place.pass(0).deleted == [])
    place.restart(0)
    #expect(try place.pass(0).deleted == [])
    place.storage.remove(0)
    place.storage.settle()
    let new = place.add()
    try place.pass(new)
    #expect(place.elements(new) == ["Milk"])
  }

  @Test func otherDeviceDeletesAfterReading() throws {
    var place = ObjectPlace(drive: true, devices: 2)
    try place.write("Milk", on: 0)
    try place.pass(0)
    place.storage.settle()
    try place.pass(1)
    try place.write("Rye", on: 0)
    try place.pass(0)
    place.storage.settle()
    // It has read what the writer uploaded.
    let deleted = try place.pass(1).deleted
    #expect(deleted.count == 1)
    place.storage.settle()
    #expect(place.names.count == 1)
    #expect(place.elements(1) == ["Milk", "Rye"])
  }

  @Test func writerDeletesAfterADay() throws {
    var place = ObjectPlace(drive: true, devices: 1)
    for text in ["Milk", "Rye"] {
      try place.write(text, on: 0)
      try place.pass(0)
    }
    #expect(try place.pass(0).deleted == [])
    place.clock.now += ObjectPlace.day - 1
    place.restart(0)
    #expect(try place.pass(0).deleted.filter { $0.interval != nil } == [])
    place.clock.now += 1
    place.restart(0)
    #expect(try place.pass(0).deleted.filter { $0.interval != nil }.count == 1)
  }

  @Test func containerIsReadAgainBeforeDeletion() throws {
    for isDamaged in [false, true] {
      var place = ObjectPlace(drive: true, devices: 2)
      for text in ["Milk", "Rye"] {
        try place.write(text, on: 0)
        try place.pass(0)
      }
      place.storage.settle()
      let (small, large) = (place.names[0], place.names[1])
      try place.pass(1, publishes: false)
      place.restart(1)
      if isDamaged {
        place.storage.damage(large) { Array($0.dropLast()) }
      } else {
        place.storage.setEvicted(true, large, on: 1)
      }
      #expect(try place.pass(1).deleted == [])
      if isDamaged { continue }
      place.storage.setEvicted(false, large, on: 1)
      #expect(try place.pass(1).deleted.map { "\($0)" } == [small])
    }
  }

  /// A copy of a device stored as many saves, and their bytes are not here.
  @Test func objectOfOtherHistoryStays() throws {
    var place = ObjectPlace(drive: true, devices: 2)
    let copy = place.add()
    place.devices[copy].replica = Replica(
      device: place.devices[0].replica.device, schema: [PlacedNote.self],
      wallClock: place.clock.wallClock, makeDeviceID: { DeviceID(200) })
    for (text, i) in [("Milk", 0), ("Rye", copy)] {
      try place.write(text, on: i)
      try place.pass(i)
    }
    place.storage.settle()
    // The other one counts if they are equal.
    let names = place.names.compactMap { ObjectName($0) }
    let least = try #require(names.min { $0.nonce < $1.nonce })
    place.storage.setEvicted(true, "\(least)", on: 1)
    #expect(names.count == 2)
    let (read, _, deleted) = try place.pass(1)
    #expect(read == 1 && deleted == [])
  }

  // Rule 7.
  @Test func holdersReplaceFileThatIsDamagedLater() throws {
    for isDrive in [false, true] {
      var place = ObjectPlace(drive: isDrive, devices: 2)
      try place.write("Milk", on: 0)
      try place.pass(0)
      place.storage.settle()
      try place.pass(1)
      place.storage.damage(place.names[0]) { $0.map { $0 ^ 1 } }
      for i in [0, 1] {
        #expect(try place.pass(i).stored.filter { $0.interval != nil } == [])
      }
      let new = place.add()
      // The answer may have been cut, or the bytes are not complete yet.
      #expect(try place.pass(new).deleted == [])
      #expect(place.elements(new) == [])
      place.days(1)
      place.restart(new)
      try place.pass(new)
      place.storage.settle()
      try place.pass(0)
      place.storage.settle()
      try place.pass(new)
      #expect(place.elements(new) == ["Milk"])
    }
  }

  /// A drive keeps a damaged file for a day.
  @Test func savesInDamagedFileAreStoredAgain() throws {
    var place = ObjectPlace(drive: true, devices: 2)
    try place.write("Milk", on: 0)
    try place.pass(0)
    place.storage.settle()
    place.storage.damage(place.names[0]) { Array($0.dropLast()) }
    #expect(try place.pass(1).read == 0)
    // The devices meet elsewhere.
    let (one, other) = (place.devices[0].replica, place.devices[1].replica)
    other.apply(try #require(one.delta(since: other.version)))
    try place.pass(1)
    place.clock.now += 20 * ObjectPlace.minute
    let stored = try place.pass(1).stored.filter { $0.interval != nil }
    #expect(stored.map(\.device) == [one.device])
  }

  /// Its bytes are not complete yet.
  @Test func tornFileIsReadWhenItIsComplete() throws {
    var place = ObjectPlace(drive: true, devices: 2)
    try place.write("Milk", on: 0)
    try place.pass(0)
    place.storage.settle()
    let name = place.names[0]
    let bytes = try #require(place.storage.objects[name])
    place.storage.damage(name) { Array($0.prefix(20)) }
    #expect(try place.pass(1).deleted == [])
    place.storage.damage(name) { _ in bytes }
    #expect(try place.pass(1).read == 1)
    place.days(1)
    #expect(try place.pass(1).deleted == [])
  }

  @Test func emptyFileIsStoredAgain() throws {
    var place = ObjectPlace(devices: 1)
    try place.write("Milk", on: 0)
    try place.pass(0)
    place.storage.damage(place.names[0]) { _ in [] }
    let stored = try place.pass(0).stored.filter { $0.interval != nil }
    #expect(stored.count == 1)
    let new = place.add()
    try place.pass(new)
    #expect(place.elements(new) == ["Milk"])
  }

  // Copies.
  /// A backup with the token was restored, and then more was saved than was lost.
  @Test func restoredDeviceFindsItsFormerObjects() throws {
    for isDrive in [false, true] {
      var place = ObjectPlace(drive: isDrive, devices: 1)
      try place.write("Milk", on: 0)
      try place.pass(0)
      let (state, clock) = (place.devices[0].replica.state, place.clock)
      for i in 0..<2 { try place.write("lost", to: "lost \(i)", on: 0) }
      try place.pass(0)
      place.devices[0].replica = Replica(
        opening: state, token: RestoreToken(state), schema: [PlacedNote.self],
        wallClock: clock.wallClock, makeDeviceID: { DeviceID(200) })
      place.devices[0].memory = ObjectMemory()
      for i in 0..<3 { try place.write("new", to: "new \(i)", on: 0) }
      try place.pass(0)
      place.storage.settle()
      let new = place.add()
      try place.pass(new)
      for i in [0, new] {
        #expect(place.elements(i, of: "lost 1") == ["lost"])
        #expect(place.elements(i, of: "new 2") == ["new"])
      }
      // Nothing follows.
      for i in [0, new, 0, new] {
        place.days(1)
        try place.pass(i)
        place.storage.settle()
      }
      #expect(try place.pass(0).stored.isEmpty)
    }
  }

  // Rule 8.
  @Test func versionIsWrittenOnceADay() throws {
    var place = ObjectPlace(devices: 2)
    try place.write("Milk", on: 0)
    #expect(try place.pass(0).stored.filter { $0.interval == nil }.count == 1)
    try place.write("Rye", on: 0)
    #expect(try place.pass(0).stored.filter { $0.interval == nil } == [])
    place.days(1)
    let next = try place.pass(0)
    #expect(next.stored.filter { $0.interval == nil }.count == 1)
    #expect(next.deleted.filter { $0.interval == nil }.count == 1)
    // Nothing changed since.
    place.days(1)
    #expect(try place.pass(0).stored == [])
    // A device without saves awaits nobody, and nobody awaits it.
    try place.pass(1)
    #expect(place.storage.objects.keys.count { $0.hasSuffix(".version") } == 1)
  }

  /// Each device purges and syncs once a day.
  ///
  /// - Returns: The day after which no device of some has the text, or `nil`.
  private func purge(
    _ place: inout ObjectPlace, _ devices: [Int], days: Int = 8
  ) throws -> Int? {
    for day in 1...days {
      place.days(1)
      for i in devices {
        try place.devices[i].replica.purgeDeletedRecords()
        try place.pass(i)
      }
      place.storage.settle()
      let isPurged = devices.allSatisfy {
        !Data(place.devices[$0].replica.state.encoded()).contains("Milk".utf8)
      }
      if isPurged { return day }
    }
    return nil
  }

  @Test func deletionIsPurgedWithinEightDays() throws {
    for isDrive in [false, true] {
      var place = ObjectPlace(drive: isDrive, devices: 4)
      try place.write("Milk", on: 0)
      for i in [1, 2, 3] { try place.write("Rye", to: "2", on: i) }
      for _ in 0..<2 {
        for i in 0..<4 {
          try place.pass(i)
          place.storage.settle()
        }
      }
      try place.devices[0].replica.save { $0[PlacedNote.self, "1"].delete() }
      // The last device never comes back.
      #expect(try purge(&place, [0, 1, 2]) == nil)
      let lost = place.devices[3].replica.device
      try place.devices[0].replica.retire(lost)
      let day = try purge(&place, [0, 1, 2])
      #expect(day != nil, "drive \(isDrive)")
      // It comes back anyway, with the record.
      #expect(place.elements(3) == ["Milk"])
      for _ in 0..<3 {
        for i in 0..<4 {
          try place.pass(i)
          place.storage.settle()
        }
      }
      #expect((0..<4).allSatisfy { place.elements($0) == [] })
    }
  }
}
