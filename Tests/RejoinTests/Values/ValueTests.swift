// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite struct ValueTests {
  /// Distinct values in canonical order.
  private static let rising: [Value] = [
    .null, .bool(false), .bool(true),
    .int(.min), .int(-1), .int(0), .int(.max),
    .double(-.infinity), .double(-2.5), .double(-.leastNonzeroMagnitude),
    .double(0), .double(.leastNonzeroMagnitude), .double(1.5),
    .double(.infinity), .double(.nan),
    .string(""), .string("Z"), .string("a"), .string("a\u{0}"),
    .string("e\u{301}"), .string("z"), .string("\u{e9}"),
    .string("\u{ffff}"), .string("\u{10000}"),
    .bytes([]), .bytes([0]), .bytes([0, 0]), .bytes([127]), .bytes([128]),
    .date(-1), .date(0), .date(.max),
    .reference(RecordID("A", "z")), .reference(RecordID("B", "a")),
    .reference(RecordID("B", "b")),
  ]

  @Test func orderMatchesCanonicalBytes() {
    for (i, a) in ValueTests.rising.enumerated() {
      for (j, b) in ValueTests.rising.enumerated() {
        #expect((a < b) == (i < j), "\(a) \(b)")
        #expect((a == b) == (i == j), "\(a) \(b)")
      }
    }
  }

  @Test func composedAndDecomposedTextDiffer() {
    let values: Set<Value> = [.string("\u{e9}"), .string("e\u{301}")]
    #expect(values.count == 2)
    #expect("\u{e9}" == "e\u{301}")
  }

  @Test func signedZerosAndNaNsAreEqual() {
    #expect(Value.double(-0.0) == .double(0))
    #expect(!(Value.double(-0.0) < .double(0)))
    #expect(!(Value.double(0) < .double(-0.0)))
    let nans: [Double] = [
      .nan, -.nan, .signalingNaN, Double(nan: 5, signaling: false),
    ]
    #expect(Set(nans.map(Value.double)).count == 1)
    #expect(Set([0, -0.0].map(Value.double)).count == 1)
    #expect(!nans.contains { .double($0) < Value.double(.nan) })
    #expect(Value.canonicalBits(-0.0) == 0)
    #expect(Value.canonicalBits(-.nan) == 0x7ff8_0000_0000_0000)
  }

  @Test func valuesOfDifferentTypesDiffer() {
    let ones: [Value] = [.bool(true), .int(1), .double(1), .date(1)]
    #expect(Set(ones).count == ones.count)
  }

  @Test func descriptionMatchesScriptSyntax() {
    let texts = [
      .null, .bool(true), .int(-1), .double(0.5), .string("a"), .bytes([1]),
      .date(7), .reference(RecordID("A", "k")),
    ].map { (value: Value) in "\(value)" }
    #expect(
      texts == ["null", "true", "-1", "0.5", "\"a\"", "[1]", "7µs", "→A/k"])
  }
}
