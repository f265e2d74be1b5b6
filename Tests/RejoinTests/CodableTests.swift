// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import Testing

@Suite(.encodes) struct CodableTests {
  private let phone = DeviceID(1)
  private let tablet = DeviceID(2)
  private let time = Timestamp(milliseconds: 5)

  private func text(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  private func read<T: Decodable>(_ type: T.Type, _ text: String) throws -> T {
    try JSONDecoder().decode(type, from: Data(text.utf8))
  }

  private func check<T: Codable & Equatable>(_ value: T) throws {
    let text = try text(value)
    let read = try read(T.self, text)
    #expect(read == value)
    #expect(try self.text(read) == text)
  }

  @Test func clockEncodesAsListOfDevicesAndSequences() throws {
    let clock: VectorClock = [tablet: 2, phone: .max]
    #expect(
      try text(clock)
        == #"[{"device":"\#(phone.hexadecimal)","sequence":18446744073709551615},"#
        + #"{"device":"\#(tablet.hexadecimal)","sequence":2}]"#)
    try check(clock)
    try check(Dot(phone, 3))
    try check(Timestamp.max)
    try check(phone)
  }

  @Test func everyValueRoundTrips() throws {
    let values: [Value] = [
      .null, .bool(true), .int(.min), .double(0.1), .double(-0.0),
      .double(.nan), .double(.infinity), .double(-.infinity),
      .string("\u{e9}e\u{301}"), .string("nan"), .bytes([0, 255]),
      .date(.max), .reference(RecordID("Sailor", "a/b")),
    ]
    for value in values { try check(value) }
    #expect(try text(Value.int(5)) == #"{"int":5}"#)
  }

  @Test func registersAndDeltasRoundTrip() throws {
    var a = MVRegister<String>()
    a.write("one", on: phone, at: time)
    var b = a
    let delta = a.write("two", on: phone, at: time)
    b.write(nil, on: tablet, at: time)
    try check(delta)
    try check(a.merging(b))
    try check(MVRegister<Int>())
    var read = try self.read(MVRegister<String>.self, try text(b))
    read.merge(try self.read(MVRegister<String>.self, try text(delta)))
    #expect(read == b.merging(delta))
    var last = LWWRegister<Int>()
    try check(last)
    try last.write(3, on: phone, at: .max)
    try check(last)
  }

  @Test func countersSetsAndLedgersRoundTrip() throws {
    var counter = PNCounter()
    try counter.increment(by: .max, on: phone)
    try counter.decrement(on: tablet)
    counter.reset()
    try counter.increment(on: tablet)
    try check(counter)
    var tags = ORSet<String>()
    let delta = tags.insert("b", on: phone)
    tags.insert("a", on: tablet)
    tags.remove("b", on: tablet)
    try check(tags)
    try check(delta)
    var ledger = Ledger()
    for amount in [.max, .max, .max, -5] as [Int64] {
      ledger.append(amount, memo: .string("m"), on: phone, at: time)
    }
    try check(ledger)
    ledger.fold(upTo: [phone: 3])
    try check(ledger)
  }

  @Test(arguments: [
    #"[{"device":"00","sequence":1}]"#, #"[{"device":"\#(one)","sequence":0}]"#,
    #"[{"device":"\#(two)","sequence":1},{"device":"\#(one)","sequence":1}]"#,
    #"[{"device":"\#(one)","sequence":1},{"device":"\#(one)","sequence":1}]"#,
  ])
  func decodingInvalidClockThrows(_ text: String) {
    #expect(throws: DecodingError.self) { try read(VectorClock.self, text) }
  }

  @Test(arguments: [
    #"{"writes":[{"device":"\#(one)","sequence":1,"time":5}],"seen":{"clock":[]}}"#,
    #"{"writes":[],"seen":{"clock":[{"device":"\#(one)","sequence":\#(UInt64.max)}]}}"#,
    #"{"writes":[],"seen":{"clock":[],"dots":[{"device":"\#(one)","sequence":0}]}}"#,
    #"{"writes":[],"seen":{"clock":[],"dots":[{"device":"\#(one)","sequence":1}]}}"#,
    #"{"writes":[],"seen":{"clock":[{"device":"\#(one)","sequence":3}],"dots":[{"device":"\#(one)","sequence":2}]}}"#,
    #"{"writes":[],"seen":{"clock":[],"dots":[{"device":"\#(one)","sequence":5},{"device":"\#(one)","sequence":3}]}}"#,
  ])
  func decodingInvalidRegisterThrows(_ text: String) {
    #expect(throws: DecodingError.self) {
      try read(MVRegister<Int>.self, text)
    }
  }

  @Test func decodingInvalidContentThrows() {
    let entry =
      #"{"device":"\#(one)","sequence":1,"increments":1,"decrements":0}"#
    func decision(
      _ decided: Int, _ turns: Int, _ canceled: Int, _ sum: String
    ) -> String {
      #""decided":\#(decided),"turns":\#(turns),"canceled":\#(canceled),"#
        + #""sum":"\#(sum)""#
    }
    func canceled(
      decided: Int = 1, turns: Int = 0, to number: Int = 1, sum: String = "1"
    ) -> String {
      #"{"device":"\#(one)",\#(decision(decided, turns, number, sum))}"#
    }
    func counter(_ parts: String) throws {
      _ = try read(
        PNCounter.self, #"{"entries":[\#(entry)],"canceled":[\#(parts)]}"#)
    }
    #expect(throws: DecodingError.self) {
      try read(
        PNCounter.self, #"{"entries":[],"canceled":[\#(canceled())]}"#)
    }
    #expect(throws: Never.self) { try counter(canceled()) }
    #expect(throws: Never.self) {
      try counter(canceled(turns: 1, to: 0, sum: "0"))
    }
    for wrong in [
      canceled(decided: 2), canceled(decided: 0, to: 0, sum: "0"),
      canceled(to: 0, sum: "0"), canceled(turns: 1, to: 0, sum: "1"),
      canceled(turns: 1, to: 2), canceled(sum: "\(UInt64.max)0"),
      canceled(sum: "01"), "\(canceled()),\(canceled())",
    ] {
      #expect(throws: DecodingError.self, "\(wrong)") { try counter(wrong) }
    }
    #expect(throws: DecodingError.self) {
      try read(PNCounter.self, #"{"entries":[\#(entry),\#(entry)]}"#)
    }
    #expect(throws: DecodingError.self) {
      try read(
        Ledger.self,
        #"[{"device":"\#(one)","folded":{"count":1,"sum":"9223372036854775809"},"#
          + #""entries":[]}]"#)
    }
    #expect(throws: DecodingError.self) {
      try read(
        PNCounter.self,
        #"{"entries":[\#(entry.replacing("1,", with: "0,", maxReplacements: 1))]}"#
      )
    }
    #expect(throws: Never.self) {
      try read(
        Ledger.self,
        #"[{"device":"\#(one)","folded":{"count":1,"sum":"5"},"entries":[]}]"#)
    }
    let line = #"[{"device":"\#(one)","folded":{"count":2,"sum":"5"},"#
    func ledger(_ decision: String) throws {
      _ = try read(
        Ledger.self, line + #""cancellation":{\#(decision)},"entries":[]}]"#)
    }
    #expect(throws: Never.self) { try ledger(decision(2, 0, 2, "6")) }
    #expect(throws: Never.self) { try ledger(decision(2, 1, 1, "-4")) }
    for wrong in [
      decision(3, 0, 3, "4"), decision(2, 0, 1, "4"),
      decision(2, 1, 1, "\(UInt64.max)"),
    ] {
      #expect(throws: DecodingError.self, "\(wrong)") { try ledger(wrong) }
    }
    #expect(throws: DecodingError.self) {
      try read(Ledger.self, #"[{"device":"\#(one)","entries":[]}]"#)
    }
    #expect(throws: DecodingError.self) {
      try read(Value.self, #"{"int":1,"bool":true}"#)
    }
    #expect(throws: DecodingError.self) {
      try read(
        ORSet<Int>.self,
        #"{"elements":[{"element":{"int":1},"changes":[]}],"seen":{"clock":[]}}"#
      )
    }
  }
}

private let one = DeviceID(1).hexadecimal
private let two = DeviceID(2).hexadecimal
