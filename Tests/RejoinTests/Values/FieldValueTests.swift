// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

private enum Colour: String, FieldValue { case red, green }
private enum Level: Int8, FieldValue { case low = -1, high = 1 }
private struct Token: RawRepresentable, FieldValue, Equatable {
  let rawValue: [UInt8]
}

private struct Celsius: FieldValue, Equatable {
  let degrees: Double

  init(_ degrees: Double) { self.degrees = degrees }

  init?(fieldValue value: Value) {
    guard let degrees = Double(fieldValue: value) else { return nil }
    self.degrees = degrees
  }

  var fieldValue: Value { degrees.fieldValue }
}

@Suite struct FieldValueTests {
  private func roundTrips<Type: FieldValue & Equatable>(
    _ values: [Type], as stored: [Value]
  ) {
    #expect(values.map(\.fieldValue) == stored)
    #expect(stored.map { Type(fieldValue: $0) } == values)
  }

  /// The conversion from a stored value does not take over an initializer.
  @Test func literalCreatesValue() {
    let cold: Celsius? = Celsius(7)
    #expect(cold?.degrees == 7)
  }

  @Test func everyTypeRoundTrips() {
    roundTrips([true, false], as: [.bool(true), .bool(false)])
    roundTrips([Int.min, 0, .max], as: [.int(.min), .int(0), .int(.max)])
    roundTrips([Int8.min, .max], as: [.int(-128), .int(127)])
    roundTrips([Int16.min, .max], as: [.int(-32768), .int(32767)])
    roundTrips([Int32.min], as: [.int(-1 << 31)])
    roundTrips([Int64.min, .max], as: [.int(.min), .int(.max)])
    roundTrips([UInt8.max, UInt8.min], as: [.int(255), .int(0)])
    roundTrips([UInt16.max], as: [.int(65535)])
    roundTrips([UInt32.max], as: [.int(1 << 32 - 1)])
    roundTrips([1.5, -.infinity], as: [.double(1.5), .double(-.infinity)])
    roundTrips(["", "a"], as: [.string(""), .string("a")])
    roundTrips([[], [1, 2]] as [[UInt8]], as: [.bytes([]), .bytes([1, 2])])
    let id = RecordID("A", "k")
    roundTrips([id], as: [.reference(id)])
    roundTrips([Value.null, .date(3)], as: [.null, .date(3)])
  }

  @Test func outOfRangeIntegersReturnNil() {
    #expect(Int8(fieldValue: Value.int(128)) == nil)
    #expect(Int8(fieldValue: Value.int(-129)) == nil)
    #expect(UInt8(fieldValue: Value.int(-1)) == nil)
    #expect(UInt8(fieldValue: Value.int(256)) == nil)
    #expect(UInt16(fieldValue: Value.int(.max)) == nil)
    #expect(UInt32(fieldValue: Value.int(1 << 32)) == nil)
    #expect(UInt32(fieldValue: Value.int(.min)) == nil)
    #expect(Int32(fieldValue: Value.int(.max)) == nil)
  }

  @Test func valueOfAnotherTypeReturnsNil() {
    let others: [Value] = [.null, .date(1), .reference(RecordID("A", "k"))]
    for value in others {
      #expect(Bool(fieldValue: value) == nil)
      #expect(Int(fieldValue: value) == nil)
      #expect(Double(fieldValue: value) == nil)
      #expect(String(fieldValue: value) == nil)
      #expect([UInt8](fieldValue: value) == nil)
      #expect(Colour(fieldValue: value) == nil)
    }
    #expect(RecordID(fieldValue: Value.string("A/k")) == nil)
    #expect(Int(fieldValue: Value.double(1)) == nil)
    #expect(Double(fieldValue: Value.int(1)) == nil)
    #expect(Bool(fieldValue: Value.int(1)) == nil)
  }

  @Test func unsignedIntegersAboveInt64AreKeptAndInOrder() {
    let above = UInt64(Int64.max) + 1
    roundTrips([0, UInt64(Int64.max)], as: [.int(0), .int(.max)])
    roundTrips(
      [above, .max],
      as: [
        .bytes([128, 0, 0, 0, 0, 0, 0, 0]),
        .bytes(Array(repeating: 255, count: 8)),
      ])
    roundTrips([UInt.max], as: [UInt64.max.fieldValue])
    let rising = [0, UInt64(Int64.max), above, above + 1, .max]
    let stored = rising.map(\.fieldValue)
    #expect(stored.sorted() == stored)
    #expect(Int64(fieldValue: UInt64.max.fieldValue) == nil)
    #expect(UInt64(fieldValue: Value.int(-1)) == nil)
    // A number must not have two forms.
    #expect(UInt64(fieldValue: Value.bytes([0, 0, 0, 0, 0, 0, 0, 1])) == nil)
    #expect(UInt64(fieldValue: Value.bytes([255])) == nil)
    #expect(UInt8(fieldValue: Value.bytes([255])) == nil)
  }

  @Test func floatsAreStoredWithoutLoss() {
    roundTrips(
      [Float(0.1), .infinity, .leastNonzeroMagnitude],
      as: [
        .double(Double(Float(0.1))), .double(.infinity),
        .double(Double(Float.leastNonzeroMagnitude)),
      ])
    #expect(Float(fieldValue: Value.double(0.1)) == nil)
    #expect(Float(fieldValue: Value.double(1e300)) == nil)
    #expect(Float(fieldValue: Float.nan.fieldValue)?.isNaN == true)
  }

  @Test func rawValuesAreStored() {
    roundTrips([Colour.red, .green], as: [.string("red"), .string("green")])
    roundTrips([Level.low, .high], as: [.int(-1), .int(1)])
    roundTrips([Token(rawValue: [9])], as: [.bytes([9])])
    #expect(Colour(fieldValue: Value.string("blue")) == nil)
    #expect(Level(fieldValue: Value.int(0)) == nil)
    #expect(Level(fieldValue: Value.int(1000)) == nil)
  }

  @Test func registerOfAnotherTypeReadsAsNil() {
    var text = MVRegister<Value>()
    text.write(.string("blue"), on: DeviceID(1), at: .zero)
    #expect(text.value == .string("blue"))
    #expect(text.value.flatMap { Colour(fieldValue: $0) } == nil)
  }
}
