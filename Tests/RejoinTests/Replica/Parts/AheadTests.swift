// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite(.encodes) struct AheadTests {
  private let d = Replica.empty(4)
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)

  /// Saves three records, and returns a delta of each.
  private func parts() throws -> [Delta] {
    for key in ["x", "y", "z"] {
      try d.save { $0[Sailor.self, key].name = key }
    }
    return try #require(d.delta()).split(into: 3)
  }

  /// Sends deltas until none is left, and returns their number.
  private func deltas(from one: Replica, to other: Replica) -> Int {
    var count = 0
    while count < 10, let delta = one.delta(since: other.version) {
      other.apply(delta)
      count += 1
    }
    return count
  }

  @Test func fieldAheadRevealsMissingSaves() throws {
    let parts = try parts()
    a.apply(parts[1])
    #expect(a.version.vectorClock.isEmpty)
    #expect(a.latestMissingSaves == [d.device: 2])
    #expect(a.version.fieldsAhead.count == 1)
    #expect(a.version.fieldsAhead.values.allSatisfy { $0 == [d.device: 2] })
    a.apply(parts[2])
    #expect(a.latestMissingSaves == [d.device: 3])
    #expect(!d.tell(a).hasFaults)
    #expect(a.latestMissingSaves.isEmpty && a.version.fieldsAhead.isEmpty)
    #expect(areEqual(a, d))
  }

  @Test func deltaSendsFieldsAheadOnce() throws {
    let parts = try parts()
    a.apply(parts[1])
    b.apply(parts[1])
    b.apply(parts[2])
    #expect(deltas(from: a, to: b) == 0)
    #expect(deltas(from: b, to: a) == 1)
    #expect(a[Sailor.self, "z"]?.name == "z")
    #expect(a.version.fieldsAhead == b.version.fieldsAhead)
    #expect(deltas(from: d, to: a) == 1)
    #expect(areEqual(a, d))
  }

  @Test func deltaSendsLaterSaveOfFieldAhead() throws {
    let parts = try parts()
    a.apply(parts[1])
    try d.save { $0[Sailor.self, "y"].name = "later" }
    let half = try #require(d.delta()).split(into: 3)[1]
    b.apply(half)
    #expect(b[Sailor.self, "y"]?.name == "later")
    #expect(deltas(from: b, to: a) == 1)
    #expect(a[Sailor.self, "y"]?.name == "later")
  }

  @Test func deltaSendsOwnSaveOfFieldAhead() throws {
    let parts = try parts()
    a.apply(parts[1])
    b.apply(parts[1])
    try a.save { $0[Sailor.self, "y"].name = "mine" }
    #expect(deltas(from: a, to: b) == 1)
    #expect(b[Sailor.self, "y"]?.name == "mine")
    #expect(b.version.vectorClock == [a.device: 1])
    #expect(deltas(from: b, to: a) == 0)
  }

  @Test func versionOmitsFieldsAheadAboveLimit() throws {
    let limit = ReplicaVersion.fieldsAheadLimit
    try d.save { transaction in
      for i in 0...limit { transaction[Sailor.self, "\(i)"].name = "n" }
    }
    let half = try #require(d.delta()).split(into: 1)[0]
    a.apply(half)
    #expect(a.state.ahead.count == limit + 1)
    #expect(a.version.fieldsAhead.isEmpty)
    #expect(a.latestMissingSaves == [d.device: 1])
    #expect(!d.tell(a).hasFaults)
    #expect(a.state.ahead.isEmpty)
  }

  @Test func decodingKeepsFieldsAhead() throws {
    a.apply(try parts()[1])
    let read = try ReplicaState(decoding: a.state.encoded())
    #expect(read.shownVersion == a.version)
    let version = try ReplicaVersion(decoding: a.version.encoded())
    #expect(version == a.version)
  }
}
