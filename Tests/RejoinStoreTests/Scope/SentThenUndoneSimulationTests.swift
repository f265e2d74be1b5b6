// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing
import _RejoinVerification

@testable import RejoinStore

/// Three stores send saves of changes that fail afterwards.
///
/// Each save increments a counter and inserts its own tag. Therefore, the count
/// differs from the number of tags if two saves share a dot.
@Suite struct SentThenUndoneSimulationTests {
  @Test func dotsAreUsedOnce() throws {
    var (thrown, renewals, reopenings) = (0, 0, 0)
    for seed in 0..<(Tier.isNightly ? 5_000 : 200) as Range<UInt64> {
      var world = try Stores(seed: seed)
      for _ in 0..<60 { try world.step() }
      try world.settle()
      thrown += world.thrown
      for store in world.stores { renewals += Int(store.deviceCount) - 1 }
      reopenings += world.reopenings
    }
    print(
      "sent, then undone: \(thrown) changes, \(renewals) new devices, "
        + "\(reopenings) reopenings")
    #expect(thrown > 500 && renewals > 500 && reopenings > 500)
  }
}

/// A store in memory whose writes fail on request.
private final class FailingStore {
  let number: UInt64
  private(set) var deviceCount: UInt64 = 0
  private let tokenStorage = TestTokenStorage()
  private let database: SQLiteConnection
  private(set) var scope: StoredScope
  /// Whether a new device could not be written yet.
  var isRenewalDue = false
  /// The devices of the saves that were acknowledged or sent.
  var devices: Set<DeviceID> = []

  private final class Faults {
    var failing: Set<String> = []
    var isWriting = false
    var lastDevice: UInt64 = 0
  }
  private let faults: Faults

  init(_ number: UInt64) throws {
    self.number = number
    let faults = Faults()
    self.faults = faults
    database = try SQLiteConnection(opening: ":memory:")
    scope = try FailingStore.open(database, tokenStorage, faults, number)
    deviceCount = faults.lastDevice
  }

  private static func open(
    _ database: SQLiteConnection, _ tokenStorage: TestTokenStorage,
    _ faults: Faults,
    _ number: UInt64
  ) throws -> StoredScope {
    let connection = FailingConnection(database) { sql in
      if sql.hasPrefix("BEGIN") {
        faults.isWriting = sql.hasSuffix("IMMEDIATE")
      }
      return faults.isWriting
        && faults.failing.contains { sql.hasPrefix($0) }
        ? SQLError(.full, "full") : nil
    }
    return try StoredScope(
      "main", on: connection, schema: [Note.self],
      wallClock: ManualClock().wallClock, token: tokenStorage,
      makeDeviceID: {
        faults.lastDevice += 1
        return DeviceID(high: number, low: faults.lastDevice)
      })
  }

  func reopen() throws {
    scope = try FailingStore.open(database, tokenStorage, faults, number)
    #expect(scope.deviceChange == nil || isRenewalDue)
    isRenewalDue = false
    deviceCount = faults.lastDevice
  }

  /// Runs `body` while some statements and the token fail.
  func failing(
    _ statements: Set<String>, _ body: () throws -> Void
  ) rethrows {
    faults.failing = statements
    defer {
      faults.failing = []
      deviceCount = faults.lastDevice
    }
    try body()
  }
}

private struct Stores {
  var stores: [FailingStore]
  private(set) var thrown = 0
  private(set) var reopenings = 0
  private var random: SeededRandom
  private var tags = 0
  /// The tags of acknowledged saves, and of saves that reached another store.
  private var expected: Set<String> = []
  /// Undelivered messages, with the tag of an unacknowledged save.
  private var letters: [(delta: Delta, tag: String?)] = []

  init(seed: UInt64) throws {
    random = SeededRandom(seed: seed)
    stores = try (1...3).map { try FailingStore($0) }
  }

  private mutating func save(in replica: Replica) throws -> String {
    tags += 1
    let tag = "\(tags)"
    try replica.save { transaction in
      transaction[Note.self, "1"].views.increment()
      transaction[Note.self, "1"].tags.insert(tag)
    }
    return tag
  }

  mutating func step() throws {
    let store = stores[random.number(below: 3)]
    switch random.number(below: 10) {
    case 0...2:
      let tag = try store.scope.update { try save(in: $0) }
      expected.insert(tag)
      store.isRenewalDue = false
      store.devices.insert(store.scope.replica.device)
    case 3...4: try throwAfterSending(store, failing: [])
    case 5:
      try throwAfterSending(
        store, failing: [random.pick(["COMMIT", "UPDATE", "INSERT"])])
    case 6:
      try store.reopen()
      reopenings += 1
    case 7...8:
      let other = stores[random.number(below: 3)]
      try exchange(store, other)
    default:
      if letters.isEmpty { return }
      let letter = letters.remove(at: random.number(below: letters.count))
      if random.chance(percent: 70) { try receive(letter, at: store) }
    }
    #expect(store.devices.isSubset(of: store.scope.replica.ownDevices))
  }

  private mutating func throwAfterSending(
    _ store: FailingStore, failing statements: Set<String>
  ) throws {
    let basis = stores[random.number(below: 3)].scope.replica.version
    var letter: (Delta, String?)?
    let before = store.scope.replica.version
    try store.failing(statements) {
      do {
        try store.scope.update { replica in
          let tag = try save(in: replica)
          // Pulls have their own devices.
          let device = replica.device
          if let delta = replica.delta(since: basis) {
            letter = (delta, tag)
            store.devices.insert(device)
          }
          if statements.isEmpty { throw Refused() }
        }
        Issue.record("the change did not fail")
      } catch is Refused {} catch StoreError.notDurable {}
    }
    thrown += 1
    #expect(store.scope.replica.version.vectorClock == before.vectorClock)
    if let letter { letters.append(letter) }
    store.isRenewalDue = !statements.isEmpty
  }

  private mutating func receive(
    _ letter: (delta: Delta, tag: String?), at store: FailingStore
  ) throws {
    let report = try store.scope.update { $0.apply(letter.delta) }
    #expect(report.equivocations.isEmpty && report.forkedDevices.isEmpty)
    if let tag = letter.tag, report.gaps.isEmpty { expected.insert(tag) }
  }

  private mutating func exchange(
    _ one: FailingStore, _ other: FailingStore
  ) throws {
    let basis = other.scope.replica.version
    if let delta = try one.scope.export({ $0.delta(since: basis) }) {
      try receive((delta, nil), at: other)
    }
  }

  /// Lets every store receive everything, and checks that they agree.
  mutating func settle() throws {
    for _ in 0..<2 {
      for one in stores {
        for other in stores where one !== other { try exchange(one, other) }
      }
    }
    let notes = stores.map { store in
      store.scope.read { $0[Note.self, "1"] }
    }
    for note in notes {
      let found = note?.tags ?? []
      #expect(expected.isSubset(of: found))
      #expect(Int(note?.views ?? 0) == found.count)
      #expect(found == notes[0]?.tags ?? [])
    }
    let versions = stores.map { $0.scope.replica.version }
    #expect(versions.allSatisfy { $0.forkedDevices.isEmpty })
  }
}
