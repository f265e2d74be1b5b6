// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing
import _RejoinVerification

@testable import Rejoin
@testable import RejoinSync

/// Members of a storage who store any names and bytes.
@Suite struct HostileObjectTests {
  @Test func damagedNamesAndBytesAreIgnored() throws {
    var place = ObjectPlace(devices: 2)
    try place.write("Milk", on: 0)
    try place.pass(0)
    let name = place.names[0]
    let bytes = try #require(place.storage.objects[name])
    let foreign = [
      "../\(name)", name.uppercased(), "\(name)\0", "\(name) (1)", "x" + name,
      String(repeating: "a", count: 4_096), "photo.jpg", "", ".", "..",
      name.replacingOccurrences(
        of: ".rejoin", with: " (conflicted copy).rejoin"),
      name.replacingOccurrences(of: "-", with: "--"),
      name.replacingOccurrences(of: "0-0", with: "0-+"),
    ]
    for name in foreign { place.storage.put(name, bytes, by: 0) }
    #expect(try place.pass(1).read == 1)
    place.days(2)
    for i in [0, 1] { #expect(try place.pass(i).deleted.isEmpty) }
    #expect(foreign.allSatisfy { place.storage.objects[$0] != nil })
  }

  /// A name that claims more saves than the bytes have.
  @Test func objectWithAnotherIntervalIsDamaged() throws {
    var place = ObjectPlace(devices: 2)
    try place.write("Milk", on: 0)
    try place.pass(0)
    let name = try #require(ObjectName(place.names[0]))
    let bytes = try #require(place.storage.objects[place.names[0]])
    let save = try #require(name.interval?.to)
    place.storage.lose("\(name)")
    for (sequence, digest) in [(2, save.digest), (1, save.digest ^ 1)] {
      let to = DeviceSave(
        sequence: UInt64(sequence), time: .zero, digest: digest)
      let forged = ObjectName(
        name.device, .saves(SaveInterval(from: 0, to: to)), nonce: 7)
      place.storage.put("\(forged)", bytes, by: 0)
    }
    #expect(try place.pass(1).read == 0)
    #expect(place.elements(1) == [])
    place.clock.now += 10 * ObjectPlace.minute
    try place.pass(1)
    #expect(place.names == [])
  }

  /// H9: a member forges an object that claims saves without their fields.
  ///
  /// The objects that it seems to contain are deleted, so a new device never gets their
  /// fields. Devices that have read them keep them.
  @Test func forgedObjectHidesFieldsFromNewDevices() throws {
    var place = ObjectPlace(devices: 2)
    try place.write("Milk", on: 0)
    try place.pass(0)
    try place.pass(1)
    let name = try #require(ObjectName(place.names[0]))
    let interval = try #require(name.interval)
    var message = SyncMessage(.object, scope: "s")
    message.device = place.devices[1].replica.device
    message.part = Delta(changes: [], intervals: [name.device: interval])
    place.storage.put(
      "\(ObjectName(name.device, .saves(interval), nonce: .max))",
      message.encoded(), by: 1)
    try place.pass(1)
    let new = place.add()
    try place.pass(new)
    #expect(place.elements(new) == [])
    #expect(place.elements(0) == ["Milk"])
    #expect(place.elements(1) == ["Milk"])
  }

  @Test func tooManyObjectsAreAnError() throws {
    var place = ObjectPlace(devices: 1)
    for i in 0...100_000 {
      let name = ObjectName(
        DeviceID(9), .version(number: UInt64(i)), nonce: UInt64(i))
      place.storage.put("\(name)", [], by: 0)
    }
    #expect(throws: ObjectStorageError.tooManyObjects(limit: 100_000)) {
      try place.pass(0)
    }
  }
}
