// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

/// Deltas that are lost, duplicated, reordered, split, or for another replica.
@Suite(.encodes) struct DeliveryFaultTests {
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)

  /// Returns three deltas of two saves each.
  private func deltas() throws -> [Delta] {
    try (1...3).map { number in
      let basis = a.version
      try a.edit {
        $0.miles.increment(by: 1)
        $0.pay.append(Int64(number))
      }
      try a.save { $0[Berth.self, "\(number)"].name = "b" }
      return try #require(a.delta(since: basis))
    }
  }

  @Test func exchangeClosesGapOfLostDelta() throws {
    let deltas = try deltas()
    b.apply(deltas[0])
    let report = b.apply(deltas[2])
    #expect(report.hasFaults)
    #expect(report.gaps.map(\.device) == [a.device])
    #expect(report.gaps.map(\.lastHeldSave) == [2])
    #expect(report.gaps.map(\.lastAssumedSave) == [4])
    #expect(b.version[a.device].sequence == 2)
    #expect(b.latestMissingSaves == [a.device: 6])
    #expect(b.ada?.miles == 3)
    #expect(b[Berth.self, "2"] == nil)
    #expect(!a.tell(b).hasFaults)
    #expect(b.latestMissingSaves.isEmpty)
    #expect(areEqual(a, b))
  }

  @Test func latestMissingSavesListLatestGap() throws {
    let deltas = try deltas()
    b.apply(deltas[2])
    b.apply(deltas[1])
    #expect(b.latestMissingSaves == [a.device: 6])
  }

  @Test func duplicateDeltaChangesNothing() throws {
    let deltas = try deltas()
    for delta in deltas { b.apply(delta) }
    for delta in deltas {
      let report = b.apply(delta)
      #expect(report.changedRecords.isEmpty)
      #expect(!report.hasFaults)
    }
    #expect(areEqual(a, b))
  }

  @Test func reorderedDeltasConverge() throws {
    let deltas = try deltas()
    for delta in deltas.reversed() { b.apply(delta) }
    for delta in deltas.reversed() { b.apply(delta) }
    for delta in deltas.reversed() { b.apply(delta) }
    #expect(areEqual(a, b))
  }

  @Test func splitDeltaBringsFieldsWithoutAdvancingVersion() throws {
    _ = try deltas()
    let whole = try #require(a.delta())
    let parts = whole.split(into: 3)
    #expect(parts.count == 3)
    #expect(parts.map(\.fieldCount).reduce(0, +) == whole.fieldCount)
    #expect(parts.allSatisfy { $0.intervals.isEmpty && $0.fieldCount > 0 })
    for part in parts.reversed() { b.apply(part) }
    #expect(b.version.vectorClock.isEmpty)
    #expect(b.latestMissingSaves == a.version.vectorClock)
    #expect(b.delta()?.changes == whole.changes)
    #expect(!a.tell(b).hasFaults)
    #expect(areEqual(a, b))
  }

  @Test func splitBeyondFieldCountReturnsEmptyParts() throws {
    try a.edit { $0.name = "a" }
    let parts = try #require(a.delta()).split(into: 5)
    #expect(parts.count == 5)
    #expect(parts.map(\.fieldCount).reduce(0, +) == 1)
  }

  @Test func deltaSinceStaleBasisChangesNothing() throws {
    let early = b.version
    let deltas = try deltas()
    for delta in deltas { b.apply(delta) }
    let again = try #require(a.delta(since: early))
    let report = b.apply(again)
    #expect(!report.hasFaults && report.changedRecords.isEmpty)
    #expect(areEqual(a, b))
  }

  @Test func deltaForOtherReplicaReportsGap() throws {
    let c = Replica.empty(3)
    try a.edit { $0.name = "one" }
    a.tell(b)
    try a.edit { $0.miles.increment() }
    let forB = try #require(a.delta(since: b.version))
    #expect(c.apply(forB).gaps.count == 1)
    #expect(c.ada?.miles == 1)
    #expect(c.ada?.name == nil)
    b.apply(forB)
    #expect(!b.tell(c).hasFaults)
    #expect(areEqual(a, b, c))
  }

  @Test func overlappingIntervalDoesNotReportGap() throws {
    try a.edit { $0.name = "one" }
    a.tell(b)
    try a.edit { $0.name = "two" }
    #expect(a.delta().map { b.apply($0) }?.gaps.isEmpty == true)
    #expect(b.version[a.device].sequence == 2)
  }

  @Test func deltaContainsOnlyUnseenChanges() throws {
    try a.edit {
      $0.name = "one"
      $0.rank = "first"
    }
    a.tell(b)
    try a.edit { $0.name = "two" }
    let delta = try #require(a.delta(since: b.version))
    #expect(
      Set(delta.changes.flatMap(\.fields.keys))
        == [Sailor().name.key])
    a.tell(b)
    #expect(a.delta(since: b.version) == nil)
  }
}
