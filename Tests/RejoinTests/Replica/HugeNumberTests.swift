// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

/// Numbers, times and amounts at their maximum.
@Suite(.encodes) struct HugeNumberTests {
  private let stranger = DeviceID(9)

  private func written(_ sequence: UInt64, _ time: Timestamp) -> FieldState {
    FieldState(
      Causal(
        store: Siblings(
          Stamped(.string("huge"), at: time), at: Dot(stranger, sequence)),
        context: CausalContext([stranger: sequence])))
  }

  private func save(_ sequence: UInt64, _ time: Timestamp) -> Delta.Interval {
    .init(from: 0, to: .init(sequence: sequence, time: time, digest: 1))
  }

  @Test func saveOverwritesRegisterAtGreatestTimestamp() throws {
    let a = Replica.empty(1)
    let report = a.apply(
      Delta(
        written(.max, .max), of: Sailor().name.key, in: Sailor.ada,
        intervals: [stranger: save(.max, .max)]))
    #expect(!report.hasFaults)
    #expect(a.version[stranger].sequence == .max)
    #expect(try a.edit { $0.name = "mine" }.unseenSupersededWrites == [])
    #expect(a.ada?.name == "mine")
    #expect(a.ada?.conflictingValues(of: \.name) == [])
  }

  @Test func saveReportsUnseenWriteAtGreatestTimestamp()
    throws
  {
    let a = Replica.empty(1)
    let shown = FieldState(.register)
    a.apply(Delta(written(1, .max), of: Sailor().name.key, in: Sailor.ada))
    let report = try a.save {
      $0.apply(
        .write(.string("mine")), to: Sailor().name.key, of: Sailor.ada,
        observed: shown)
    }
    #expect(
      report.unseenSupersededWrites.map(\.write.dot) == [Dot(stranger, 1)])
    #expect(a.ada?.name == "mine")
  }

  @Test func saveKeepsUnseenWriteAsConflict() throws {
    let a = Replica.empty(1)
    let far = Timestamp(rawValue: .max - 1)
    a.apply(Delta(written(1, far), of: Sailor().name.key, in: Sailor.ada))
    let report = try a.save {
      $0.apply(
        .write(.string("mine")), to: Sailor().name.key, of: Sailor.ada,
        observed: FieldState(.register))
    }
    #expect(report.unseenSupersededWrites == [])
    #expect(a.ada?.name == "mine")
    #expect(a.ada?.conflictingValues(of: \.name) == ["huge"])
    #expect(a.state.hybrid.latest < far)
  }

  @Test func counterAcceptsChangesBeyondForeignMaximum() throws {
    let a = Replica.empty(1)
    var tally = PNCounter()
    #expect(tally.add(.max, 0, on: stranger, sequence: .max) != nil)
    let state = FieldState(
      Causal(store: tally, context: CausalContext([stranger: .max])))
    a.apply(Delta(state, of: Sailor().miles.key, in: Sailor.ada))
    try a.edit { $0.miles.increment() }
    #expect(a.ada?.miles == .max)
    try a.edit { $0.miles.set(to: 3) }
    #expect(a.ada?.miles == 3)
  }

  @Test func exhaustedClockThrowsAndChangesNothing() throws {
    let a = Replica.empty(1)
    try a.edit { $0.name = "early" }
    var hybrid = HybridClock(latest: .max)
    for _ in 0..<65_536 where hybrid.latest < .max { try hybrid.tick(now: 0) }
    a.current.hybrid = hybrid
    let (version, state) = (a.version, a.delta())
    #expect(throws: SaveError.clockExhausted) {
      try a.edit { $0.name = "late" }
    }
    #expect(a.version == version)
    #expect(a.delta() == state)
    #expect(a.ada?.name == "early")
  }

  @Test func ownSequenceExhaustedElsewhereForcesNewID() throws {
    let a = Replica.empty(1) { DeviceID(5) }
    let own = a.device
    let report = a.apply(
      Delta(changes: [], intervals: [own: save(.max, .max)]))
    #expect(report.lastSaveBeforeRollback == Dot(own, 0))
    #expect(try a.edit { $0.name = "mine" }.dot == Dot(DeviceID(5), 1))
  }

  @Test func exhaustedSequenceThrowsAndChangesNothing() throws {
    let a = Replica.empty(1)
    a.current.version.insert(
      .init(sequence: .max, time: .zero, digest: 1), of: a.device)
    let version = a.version
    #expect(throws: SaveError.numbersExhausted(a.device)) {
      try a.edit { $0.name = "mine" }
    }
    #expect(a.version == version)
    #expect(a.ada == nil)
    #expect(a.state.hybrid.latest == .zero)
  }
}
