// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite(.encodes) struct SavingTests {
  private let a = Replica.empty(1)

  @Test func saveWithoutEditsTakesNoDot() throws {
    let latest = a.state.hybrid.latest
    #expect(try a.save { _ in }.dot == nil)
    #expect(a.version == ReplicaVersion())
    #expect(a.state.hybrid.latest == latest)
  }

  @Test func deletingMissingRecordTakesNoDot() throws {
    #expect(try a.save { $0[Sailor.self, "ada"].delete() }.dot == nil)
    try a.edit { $0.name = "a" }
    try a.edit { $0.delete() }
    #expect(try a.edit { $0.delete() }.dot == nil)
    #expect(a.version[a.device].sequence == 2)
  }

  @Test func editWithoutEffectTakesDot() throws {
    let verbs: [(RecordEditor<Sailor>) -> Void] = [
      { $0.name = nil }, { $0.rank = nil }, { $0.miles.increment(by: 0) },
      { $0.miles.reset() }, { $0.tags.remove("x") }, { $0.tags.removeAll() },
      { $0.roles.remove("x") }, { $0.ensureExists() }, { $0.delete() },
    ]
    for (i, verb) in verbs.enumerated() {
      #expect(try a.edit(verb).dot == Dot(a.device, UInt64(i + 1)))
    }
  }

  @Test func saveUsesOneDotForAllFields() throws {
    let dot = try a.save { transaction in
      transaction[Sailor.self, "ada"].name = "Ada"
      transaction[Berth.self, "b"].name = "bow"
    }.dot
    #expect(dot == Dot(a.device, 1))
    #expect(a.ada?.write(of: \.name)?.dot == dot)
    #expect(a[Berth.self, "b"]?.write(of: \.name)?.dot == dot)
  }

  @Test func counterOverflowChangesNothing() throws {
    try a.edit { $0.miles.increment(by: .max) }
    try a.edit { $0.miles.increment(by: .max) }
    let (version, state, latest) = (a.version, a.delta(), a.state.hybrid.latest)
    let refused = SaveError.counterOverflow(Sailor.ada, field: "miles")
    #expect(throws: refused) {
      try a.save { transaction in
        transaction[Berth.self, "b"].name = "bow"
        transaction[Sailor.self, "ada"].name = "Ada"
        transaction[Sailor.self, "ada"].miles.increment(by: 2)
      }
    }
    #expect(a.version == version)
    #expect(a.delta() == state)
    #expect(a.state.hybrid.latest == latest)
    #expect(a.ada?.name == nil)
    #expect(a[Berth.self, "b"] == nil)
    #expect(a.ada?.miles == .max)
    #expect(try a.edit { $0.miles.increment(by: 1) }.dot?.sequence == 3)
  }

  @Test func overflowWithinSaveThrowsCounterOverflow() throws {
    let refused = SaveError.counterOverflow(Sailor.ada, field: "miles")
    #expect(throws: refused) {
      try a.edit {
        for _ in 0..<3 { $0.miles.increment(by: .max) }
      }
    }
    #expect(throws: refused) {
      try a.edit {
        for _ in 0..<2 { $0.miles.decrement(by: .min) }
      }
    }
    #expect(a.version == ReplicaVersion())
    #expect(a.delta() == nil)
  }

  /// `Int64.min` has no opposite in its own type.
  @Test func decrementByInt64MinIsExact() throws {
    try a.edit { $0.miles.decrement(by: .min) }
    #expect(
      a.ada?.record.amounts(of: FieldKey("miles", .counter)) == [
        a.device: -WideInt(Int64.min)
      ])
  }

  @Test func readingWithinSaveShowsItsEdits() throws {
    try a.edit { $0.miles.increment(by: 2) }
    try a.edit { transaction in
      transaction.miles.increment(by: 3)
      #expect(transaction.miles.value == 5)
      transaction.miles.set(to: 7)
      #expect(transaction.miles.value == 7)
      transaction.name = "Ada"
      #expect(transaction.name == "Ada")
      transaction.name = nil
      #expect(transaction.name == nil)
    }
    #expect(a.ada?.miles == 7)
  }

  @Test func forkSavesUnderItsOwnID() throws {
    try a.edit { $0.name = "a" }
    let b = a.fork(as: DeviceID(2))
    #expect(areEqual(a, b))
    try b.edit { $0.name = "b" }
    #expect(a.ada?.name == "a")
    #expect(b.version.vectorClock == [a.device: 1, b.device: 1])
  }
}
