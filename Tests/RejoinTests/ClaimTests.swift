// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

@testable import Rejoin
import Testing

/// Checks claims about sync with CloudKit and Core Data.
@Suite(.encodes) struct ClaimTests {
  private let a = Replica.empty(1, wallClock: ManualClock(1000))
  private let b = Replica.empty(2, wallClock: ManualClock(1000))

  @Test func operationsAreStoredAndDevicesBreakTies() throws {
    for replica in [a, b] {
      try replica.importRows {
        $0[Sailor.self, "ada"].miles.increment(by: 5000)
      }
    }
    try a.edit {
      $0.miles.increment(by: 1200)
      $0.name = "a"
    }
    try b.edit {
      $0.miles.increment(by: 800)
      $0.name = "b"
    }
    settle(a, b)
    for replica in [a, b] {
      #expect(replica.ada?.miles == 7000)
      let writes = try #require(replica.ada?.writes(of: \.name))
      #expect(Set(writes.map(\.time)).count == 1)
      #expect(writes.map(\.dot.device) == [b.device, a.device])
    }
  }

  @Test func mergeReportsConflictWhenRemoteWriteWins() throws {
    let late = Replica.empty(3, wallClock: ManualClock(9000))
    try a.edit { $0.name = "mine" }
    try late.edit { $0.name = "theirs" }
    let report = late.tell(a)
    #expect(report.conflicts.map(\.location.field) == [Sailor().name.key])
    for conflict in report.conflicts {
      #expect(!conflict.localWon)
      #expect(conflict.winner.dot.device == late.device)
      #expect(conflict.winner.time == Timestamp(milliseconds: 9000))
      #expect(conflict.loser.value == "mine")
    }
    #expect(a.ada?.write(of: \.name)?.dot.device == late.device)
  }

  @Test func mergeKeepsEditsOfDifferentFields() throws {
    let id = RecordID("Value", "taylor")
    let keys = (0..<20).map { FieldKey("f\($0)", .register) }
    try a.save { transaction in
      for key in keys { transaction.apply(.write("base"), to: key, of: id) }
    }
    settle(a, b)
    try a.save { transaction in
      for key in keys.dropLast() {
        transaction.apply(.write("a"), to: key, of: id)
      }
    }
    try b.save { $0.apply(.write("b"), to: keys[19], of: id) }
    settle(a, b)
    let record = try #require(b.record(id))
    for key in keys.dropLast() {
      #expect(record.value(of: key) == "a")
      #expect(record.conflictingValues(of: key) == [])
    }
    #expect(record.value(of: FieldKey("f19", .register)) == "b")
  }

  @Test func separateReplicaKeepsRecordsPrivate() throws {
    let secret = Replica.empty(11)
    try a.edit { $0.name = "shared" }
    try secret.edit { $0.name = "secret" }
    let bytes = try #require(a.delta()).encoded() + a.state.encoded()
    #expect(bytes.contains(Array("shared".utf8)))
    #expect(!bytes.contains(Array("secret".utf8)))
    settle(a, b)
    #expect(areEqual(a, b))
    #expect(b.version.vectorClock == [a.device: 1])
  }

  @Test func schemaCanChangeAfterDataIsShared() throws {
    struct Next: Entity {
      static let entityName = "Sailor"
      let miles = register(
        "miles", of: Int64.self, fallingBackTo: .counter { $0 })
      let ship = register("ship", of: String.self)
    }
    let next = Replica(
      device: DeviceID(5), schema: [Next.self],
      wallClock: ManualClock().wallClock,
      makeDeviceID: { DeviceID(99) })
    try a.edit {
      $0.name = "Ada"
      $0.miles.increment(by: 3)
    }
    #expect(!a.tell(next).hasFaults)
    // The new schema removes a field, adds a field and changes a kind.
    #expect(next[Next.self, "ada"]?.ship == nil)
    #expect(next[Next.self, "ada"]?.miles == 3)
    try next.save { transaction in
      transaction[Next.self, "ada"].ship = "Endeavour"
      transaction[Next.self, "ada"].miles = 4
    }
    let report = next.tell(a)
    #expect(
      report.kindMismatches
        == [.init(record: Sailor.ada, field: Next().miles.key)])
    #expect(a.ada?.name == "Ada")
    #expect(a.ada?.miles == 3)
    #expect(areEqual(a, next))
    a.tell(b)
    #expect(!b.tell(next).hasFaults)
    #expect(next[Next.self, "ada"]?.miles == 4)
  }
}
