// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting
import Testing

@Suite struct DeviceIDTests {
  private static let samples = [
    DeviceID(0), DeviceID(1), DeviceID(high: 1, low: 0),
    DeviceID(high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210),
    DeviceID(high: 1 << 63, low: 7), DeviceID(high: .max, low: .max),
  ]

  @Test func orderMatchesUnsignedBytes() {
    var random = SeededRandom(seed: 1)
    let drawn = (0..<40).map { _ in DeviceID.random(using: &random) }
    for a in DeviceIDTests.samples + drawn {
      for b in DeviceIDTests.samples + drawn {
        #expect((a < b) == a.bytes.lexicographicallyPrecedes(b.bytes))
      }
    }
    #expect(DeviceID(high: 1 << 63, low: 0) > DeviceID(high: 1, low: .max))
  }

  @Test(arguments: samples) func textAndBytesRoundTrip(_ device: DeviceID) {
    #expect(DeviceID(hexadecimal: device.hexadecimal) == device)
    #expect(DeviceID(bytes: device.bytes) == device)
    #expect(device.bytes.count == 16)
    #expect(device.hexadecimal.count == 32)
  }

  @Test func mostSignificantByteComesFirst() {
    let device = DeviceIDTests.samples[3]
    #expect(device.hexadecimal == "0123456789abcdeffedcba9876543210")
    #expect(device.bytes.first == 0x01)
    #expect(device.bytes.last == 0x10)
    #expect(device.bytes[8] == 0xfe)
  }

  @Test(arguments: [
    "", "0", "0123456789abcdeffedcba987654321",
    "0123456789abcdeffedcba98765432100", "0123456789ABCDEFFEDCBA9876543210",
    "+123456789abcdeffedcba9876543210", "0123456789abcdef+edcba9876543210",
    "g123456789abcdeffedcba9876543210", "0123456789abcdef fedcba987654321",
    "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}0123456789abcdef",
  ])
  func malformedTextReturnsNil(_ text: String) {
    #expect(DeviceID(hexadecimal: text) == nil)
  }

  @Test(arguments: [0, 1, 15, 17, 32])
  func wrongByteCountReturnsNil(_ count: Int) {
    #expect(DeviceID(bytes: Array(repeating: 1, count: count)) == nil)
  }

  @Test func nameIsLeftAligned() {
    let phone = DeviceID(name: "phone")
    #expect(phone?.high == 0x7068_6f6e_6500_0000)
    #expect(phone?.low == 0)
    let long = DeviceID(name: "0123456789abcdef")
    #expect(long?.bytes == Array("0123456789abcdef".utf8))
    #expect(DeviceID(name: "012345678")?.low == 0x38 << 56)
  }

  @Test func nameOfWrongLengthReturnsNil() {
    #expect(DeviceID(name: "") == nil)
    #expect(DeviceID(name: "0123456789abcdef0") == nil)
    #expect(DeviceID(name: "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}") != nil)
    #expect(
      DeviceID(name: String(repeating: "\u{e9}", count: 9)) == nil)
  }

  @Test func descriptionUsesReadableName() {
    #expect(DeviceID(name: "phone")?.description == "phone")
    #expect(DeviceID(name: "a b")?.description.count == 32)
    #expect(DeviceID(name: "\u{e9}")?.description.count == 32)
    #expect(DeviceID(0).description == String(repeating: "0", count: 32))
    #expect(DeviceID(1).description == DeviceID(1).hexadecimal)
  }

  @Test func composedAndDecomposedNamesDiffer() {
    #expect(DeviceID(name: "\u{e9}") != DeviceID(name: "e\u{301}"))
  }

  @Test func randomTakesBothHalvesFromGenerator() {
    var (a, b) = (SeededRandom(seed: 4), SeededRandom(seed: 4))
    #expect(DeviceID.random(using: &a) == DeviceID.random(using: &b))
    #expect(DeviceID.random(using: &a).high != DeviceID.random(using: &b).low)
    #expect(DeviceID.random(using: &a) != DeviceID.random(using: &a))
  }
}
