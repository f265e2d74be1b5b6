// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinFoundation
import Testing

@Suite struct ValueTests {
  private struct Hotel: Codable, Hashable {
    var name: String
    var nights: Int
    var rating: Double = 1
  }

  private struct Trip: Entity {
    let start = register("start", of: Date.self)
    let ticket = register("ticket", of: Data.self)
    let price = register("price", of: Decimal.self)
    let hotel = register("hotel", of: Coded<Hotel>.self)
    let days = set("days", of: Date.self)
  }

  private func check<Stored: FieldValue & Equatable>(
    _ value: Stored, is expected: Value
  ) {
    #expect(value.fieldValue == expected)
    #expect(Stored(fieldValue: expected) == value)
    #expect(Stored(fieldValue: .bool(true)) == nil)
  }

  @Test func exampleOfModulePageRoundTrips() throws {
    let phone = Replica(
      device: .random(), schema: [Trip.self], wallClock: .system,
      makeDeviceID: DeviceID.random)

    try phone.save { transaction in
      let trip = transaction[Trip.self, "1"]
      trip.start = Date(timeIntervalSince1970: 1_750_000_000)
      trip.ticket = Data([1, 2, 3])
      trip.price = Decimal(string: "119.50")
      trip.hotel = Coded(Hotel(name: "Lutetia", nights: 2))
      trip.days.insert(Date(timeIntervalSince1970: 1.5))
    }
    let trip = try #require(phone[Trip.self, "1"])
    #expect(trip.price?.description == "119.5")
    #expect(trip.hotel?.content.nights == 2)
    #expect(trip.ticket == Data([1, 2, 3]))
    #expect(trip.start == Date(timeIntervalSince1970: 1_750_000_000))
    #expect(trip.days == [Date(timeIntervalSince1970: 1.5)])
  }

  @Test func datesAreMicroseconds() {
    check(Date(timeIntervalSince1970: 0), is: .date(0))
    check(Date(timeIntervalSince1970: -1.25), is: .date(-1_250_000))
    check(
      Date(timeIntervalSince1970: 1_750_000_000.123456),
      is: .date(1_750_000_000_123_456))
    check(Date.distantFuture, is: .date(64_092_211_200_000_000))
    let far = Date(timeIntervalSince1970: .greatestFiniteMagnitude)
    #expect(far.fieldValue == .date(.max))
    #expect(
      Date(timeIntervalSince1970: -.infinity).fieldValue == .date(.min))
    #expect(Date(timeIntervalSince1970: .nan).fieldValue == .date(.min))
  }

  @Test func storedDatesRoundTrip() throws {
    for microseconds in stride(
      from: 1_750_000_000_000_000 as Int64, to: 1_750_000_000_002_000, by: 7)
    {
      let date = try #require(Date(fieldValue: .date(microseconds)))
      #expect(date.fieldValue == .date(microseconds))
    }
  }

  @Test func identifiersAndBytesAreBytes() throws {
    let uuid = try #require(
      UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
    let bytes = (0..<16).map { UInt8($0 * 17) }
    check(uuid, is: .bytes(bytes))
    #expect(UUID(fieldValue: .bytes([1])) == nil)
    check(Data([0, 255]), is: .bytes([0, 255]))
    check(Data(), is: .bytes([]))
    #expect(
      DeviceID(uuid).hexadecimal == "00112233445566778899aabbccddeeff")
    #expect(DeviceID.random() != DeviceID.random())
  }

  @Test func addressesAndNumbersAreStrings() throws {
    let text = "https://example.org/a?b=c"
    check(try #require(URL(string: text)), is: .string(text))
    for (number, text) in [
      ("1.50", "1.5"), ("-0.001", "-0.001"), ("1000", "1000"), ("0", "0"),
    ] {
      check(
        try #require(Decimal(string: number)), is: .string(text))
    }
    for text in ["1.50", "12abc", "", "x"] {
      #expect(Decimal(fieldValue: .string(text)) == nil, "\(text)")
    }
  }

  @Test func codedValuesAreJSON() {
    let hotel = Coded(Hotel(name: "a/b", nights: 2))
    check(
      hotel,
      is: .bytes(Array(#"{"name":"a/b","nights":2,"rating":1}"#.utf8)))
    #expect(Coded<Hotel>(fieldValue: .bytes(Array("{}".utf8))) == nil)
    let broken = Coded(Hotel(name: "", nights: 0, rating: .infinity))
    #expect(broken.fieldValue == .null)
  }

  @Test func systemClockAdvances() {
    let now = WallClock.system.now
    #expect(now > 1_700_000_000_000)
    #expect(WallClock.system.now >= now)
  }
}
