// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinStore

/// The accesses that a session of a hub allows and rejects.
@Suite final class HubAccessTests: HubSuite {
  private struct Refused: Error {}

  private func hub() async throws -> Hub {
    let path = self.path
    return try await Hub(connections: 2) {
      let connection = try SQLiteConnection(opening: path)
      try connection.run("PRAGMA journal_mode = WAL")
      return connection
    }
  }

  /// Returns a session that may write as some devices, and a list of its
  /// writes.
  private func session(
    _ hub: Hub, as devices: DeviceID...
  ) -> (HubSession, Writes) {
    let writes = Writes()
    let session = hub.makeSession { access in
      guard case .write(_, let write) = access else { return }
      writes.add(write)
      if !write.devices.isSubset(of: devices) { throw Refused() }
    }
    return (session, writes)
  }

  private final class Writes: Sendable {
    private let writes = Locked<[Hub.Write]>([])
    var last: Hub.Write? { writes.withLock { $0.last } }
    func add(_ write: Hub.Write) { writes.withLock { $0.append(write) } }
  }

  @Test func sessionRejectsForbiddenAccess() async throws {
    let hub = try await hub()
    let phone = replica(1)
    try phone.save { $0[Note.self, "1"].title = "Milk" }
    let (own, device) = (scope, phone.device)
    let name = ScopeName(own)
    // This client may use one scope, as one device.
    let session = hub.makeSession { access in
      switch access {
      case .read(name), .recordVersion(name, device): break
      case .write(name, let write) where write.devices == [device]: break
      default: throw Refused()
      }
    }
    let delta = try #require(phone.delta())
    try await session.apply(delta, in: own)
    try await session.recordVersion(phone.version, of: device, in: own)
    #expect(
      try await session.version(of: own).vectorClock
        == phone.version.vectorClock)
    #expect(
      try await session.delta(since: ReplicaVersion(), in: own) == delta)
    #expect(
      try await session.delta(
        since: ReplicaVersion(), byteLimit: 1_000, in: own) == delta)
    await #expect(throws: Refused.self) {
      try await session.version(of: "theirs")
    }
    await #expect(throws: Refused.self) {
      try await session.delta(since: ReplicaVersion(), in: "theirs")
    }
    await #expect(throws: Refused.self) {
      try await session.delta(
        since: ReplicaVersion(), byteLimit: 1, in: "theirs")
    }
    await #expect(throws: Refused.self) {
      try await session.apply(delta, in: "theirs")
    }
    await #expect(throws: Refused.self) {
      try await session.recordVersion(
        phone.version, of: DeviceID(2), in: own)
    }
    let tablet = replica(2)
    try tablet.save { $0[Note.self, "1"].title = "Bread" }
    await #expect(throws: Refused.self) {
      try await session.apply(#require(tablet.delta()), in: own)
    }
    // A refusal leaves no rows, not even a scope.
    let connection = try SQLiteConnection(opening: path)
    #expect(try connection.integer("SELECT count(*) FROM rejoin_scope") == 1)
    #expect(try connection.integer("SELECT count(*) FROM rejoin_device") == 1)
  }

  /// A phone that received a part of a save can send only fields of it.
  @Test func refusedFieldsAheadChangeNothing() async throws {
    let hub = try await hub()
    let (phone, tablet) = (replica(1), replica(2))
    try phone.save { $0[Note.self, "1"].title = "Milk" }
    try tablet.save { transaction in
      transaction[Note.self, "1"].title = "Bread"
      transaction[Note.self, "2"].views.increment(by: 7)
    }
    let (own, writes) = session(hub, as: phone.device)
    try await own.apply(#require(phone.delta()), in: scope)
    let held = try await own.version(of: scope)
    phone.apply(try #require(tablet.delta()).split(into: 2)[0])
    let rest = try #require(phone.delta(since: held, byteLimit: 1))
    #expect(rest.intervals.isEmpty)
    #expect(try await !own.apply(rest, in: scope).hasAdvanced)
    #expect(writes.last?.devices == [tablet.device])
    #expect(try await own.version(of: scope) == held)
    // A client that may write for both relays them.
    let (both, _) = session(hub, as: phone.device, tablet.device)
    #expect(try await both.apply(rest, in: scope).hasAdvanced)
    #expect(try await both.version(of: scope) == phone.version)
  }

  /// A device that relays the saves of another device writes in its name.
  @Test func relayedSaveNamesItsDevice() async throws {
    let hub = try await hub()
    let (phone, tablet) = (replica(1), replica(2))
    try tablet.save { $0[Note.self, "1"].title = "Bread" }
    phone.merge(tablet)
    try phone.save { $0[Note.self, "2"].title = "Milk" }
    let delta = try #require(phone.delta())
    let (own, _) = session(hub, as: phone.device)
    await #expect(throws: Refused.self) {
      try await own.apply(delta, in: self.scope)
    }
    let (both, writes) = session(hub, as: phone.device, tablet.device)
    try await both.apply(delta, in: scope)
    #expect(writes.last?.devices == [phone.device, tablet.device])
    #expect(writes.last?.newDevices == 2)
    // Saves that the hub has are not written again.
    try phone.save { $0[Note.self, "1"].title = "Butter" }
    let held = try await own.version(of: scope)
    try await own.apply(#require(phone.delta(since: held)), in: scope)
  }

  /// Messages that change content without a save, or content of another device.
  @Test(arguments: 0..<6)
  func forgedFieldNamesForgedDevice(_ forgery: Int) async throws {
    let hub = try await hub()
    let (phone, tablet) = (replica(1), replica(2))
    try tablet.save { transaction in
      let note = transaction[Note.self, "1"]
      note.title = "Milk"
      note.tags.insert("a")
      note.views.increment(by: 3)
      note.log.append(5)
    }
    // A later save that changes no counter leaves numbers free.
    try tablet.save { transaction in
      transaction[Note.self, "1"].views.reset()
    }
    try tablet.save { transaction in
      transaction[Note.self, "1"].views.increment(by: 3)
      transaction[Note.self, "1"].log.append(5)
      transaction[Note.self, "1"].title = "Bread"
    }
    let (all, _) = session(hub, as: tablet.device, phone.device)
    try await all.apply(#require(tablet.delta()), in: scope)
    phone.merge(tablet)
    try phone.save { transaction in
      transaction[Note.self, "1"].views.increment(by: 1)
      transaction[Note.self, "1"].log.append(1)
    }
    let held = try await all.version(of: scope)
    try await all.apply(#require(phone.delta(since: held)), in: scope)
    let before = try await all.delta(since: ReplicaVersion(), in: scope)
    let id = RecordID("Note", "1")
    func state(_ name: String, _ kind: FieldKind) throws -> FieldState {
      let change = try #require(phone.delta()?.changes.first { $0.id == id })
      return try #require(change.fields[FieldKey(name, kind)])
    }
    var fields: [FieldKey: FieldState] = [:]
    switch forgery {
    case 0:
      // The field loses its value without a save.
      let clock = try state("title", .register).clock
      fields[FieldKey("title", .register)] = FieldState(
        Causal(Siblings(), clock))
    case 1:
      let clock = try state("tags", .set).clock
      fields[FieldKey("tags", .set)] = FieldState(
        Causal(ORSetStore(), clock))
    case 2:
      // A known dot has another payload.
      guard case .register(let field) = try state("title", .register).box,
        let sibling = Array(field.store).first
      else { return }
      let forged = Stamped(.string("forged"), at: sibling.payload.time)
      fields[FieldKey("title", .register)] = FieldState(
        Causal(Siblings(forged, at: sibling.dot), field.clock))
    case 3, 4:
      guard case .counter(let field) = try state("views", .counter).box else {
        return
      }
      var (entries, clock) = (field.store.entries, field.clock)
      for i in entries.indices where entries[i].device == tablet.device {
        entries[i].increments += 1000
      }
      if forgery == 4 {
        // The forgery comes with a save of the phone itself.
        clock.advance(to: Dot(phone.device, 9))
        for i in entries.indices where entries[i].device == phone.device {
          entries[i].sequence = 9
        }
      }
      fields[FieldKey("views", .counter)] = FieldState(
        Causal(PNCounter(entries: entries), clock))
    default:
      guard case .ledger(let field) = try state("log", .ledger).box,
        let line = field.store.lines[tablet.device]
      else { return }
      var (lines, clock) = (field.store.lines, field.clock)
      lines[tablet.device] = DeviceEntries(
        folded: line.count, sum: line.sum + 1000,
        cancellation: line.cancellation, tail: [])
      clock.advance(to: Dot(phone.device, 9))
      lines[phone.device]?.append(
        .init(sequence: 9, time: .zero, amount: 1, memo: nil))
      fields[FieldKey("log", .ledger)] = FieldState(
        Causal(Ledger(lines: lines), clock))
    }
    // The message reports a save of the phone.
    let last = phone.version
    try write(phone, "2")
    let forged = Delta(
      changes: Delta([RecordChange(id: id, fields: fields)]).changes,
      intervals: try #require(phone.delta(since: last)).intervals)
    let (session, writes) = session(hub, as: phone.device)
    await #expect(throws: Refused.self) {
      try await session.apply(forged, in: self.scope)
    }
    #expect(writes.last?.devices.contains(tablet.device) == true)
    #expect(
      try await all.delta(since: ReplicaVersion(), in: scope) == before)
  }

  /// A refused request does not affect the other requests of its transaction.
  @Test func refusalConcernsOneRequest() async throws {
    let scopes = try HubConnection(
      SQLiteConnection(opening: path), makeDeviceID: DeviceID.random)
    let replicas = (1...4).map { replica(UInt64($0)) }
    let changes = try replicas.enumerated().map { i, replica in
      try replica.save { $0[Note.self, "\(i % 2)"].views.increment(by: 1) }
      let device = replica.device
      return HubChange.join(try #require(replica.delta())) { write in
        if i == 1 { throw Refused() }
        #expect(write.devices == [device])
      }
    }
    let results = try scopes.make(changes.map { (scope, $0) })
    #expect(throws: Refused.self) { try results[1].get() }
    for i in [0, 2, 3] { #expect(try !results[i].get().hasFaults) }
    let expected = replica(9)
    for i in [0, 2, 3] { expected.merge(replicas[i]) }
    #expect(
      try scopes.delta(since: ReplicaVersion(), in: scope)
        == expected.delta())
  }
}
