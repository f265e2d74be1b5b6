// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

private struct Reading: Entity {
  static let entityName = "Value"
  let level = register("level", of: Double.self)
  let peak = lww("peak", of: Float.self)
  let raw = register("raw", of: Value.self)
  let seen = set("seen", of: Double.self)
  let log = ledger("log")
}

/// Stored doubles are canonical: −0 is 0, and every NaN is the same.
@Suite(.encodes) struct CanonicalEntryTests {
  private let device = DeviceID(1)
  private let oddNaN = Double(nan: 5, signaling: false)

  private func isCanonical(_ value: Value?) -> Bool {
    guard case .double(let number) = value else { return false }
    return number.bitPattern == Value.canonicalBits(number)
  }

  @Test func saveWritesCanonicalDoubles() throws {
    let a = Replica.empty(1)
    for (odd, number) in [(-0.0, 0), (oddNaN, Double.nan)] {
      try a.save { transaction in
        let item = transaction[Reading.self, "1"]
        (item.level, item.peak, item.raw) = (odd, Float(odd), .double(odd))
        item.seen.insert(odd)
        item.log.append(1, memo: .double(odd))
        #expect(item.level?.bitPattern == number.bitPattern)
        #expect(isCanonical(item.raw))
      }
      let fetched = a.recordForEditing(RecordID("Value", "1"))
      for key in [Reading().level.key, Reading().peak.key, Reading().raw.key] {
        #expect(isCanonical(fetched[key].value))
      }
      #expect(fetched[Reading().seen.key].elements.allSatisfy(isCanonical))
      let entries = try #require(a[Reading.self, "1"]?.entries(of: \.log))
      #expect(entries.allSatisfy { isCanonical($0.memo) })
      #expect(a[Reading.self, "1"]?.level?.bitPattern == number.bitPattern)
    }
  }

  @Test func importWritesCanonicalDoubles() throws {
    let a = Replica.empty(1)
    try a.importRows { $0[Reading.self, "1"].raw = .double(-0.0) }
    #expect(isCanonical(a[Reading.self, "1"]?.raw))
  }

  @Test func valueTypesStoreCanonicalDoubles() throws {
    var register = MVRegister<Value>()
    register.write(.double(-0.0), on: device, at: .zero)
    #expect(isCanonical(register.value))
    var last = LWWRegister<Value>()
    try last.write(.double(oddNaN), on: device, at: .zero)
    #expect(isCanonical(last.value))
    var added = ORSet<Value>()
    let delta = added.insert(.double(-0.0), on: device)
    #expect(added.elements.allSatisfy(isCanonical))
    #expect(delta.elements.allSatisfy(isCanonical))
    var ledger = Ledger()
    ledger.append(1, memo: .double(-0.0), on: device, at: .zero)
    #expect(ledger.entries.allSatisfy { isCanonical($0.memo) })
  }

  @Test func fieldValuesAndLiteralsAreCanonical() {
    #expect(isCanonical((-0.0).fieldValue))
    #expect(isCanonical(oddNaN.fieldValue))
    #expect(isCanonical((-Float.nan).fieldValue))
    #expect(isCanonical(-0.0 as Value))
  }

  @Test func literalsAreValues() {
    let values: [Value] = ["text", 5, -7, 0.5, true]
    #expect(
      values == [.string("text"), .int(5), .int(-7), .double(0.5), .bool(true)])
  }
}
