// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import RejoinStore

/// The limits of a hub's requests, and the names of its scopes.
@Suite final class HubLimitTests: HubSuite {
  private func session(
    _ database: Database, _ change: (inout Hub.Limits) -> Void = { _ in }
  ) async throws -> HubSession {
    var limits = Hub.Limits()
    change(&limits)
    let path = self.path
    let hub = try await Hub(connections: 2, limits: limits) {
      try database.connect(path)
    }
    return hub.makeSession { _ in }
  }

  /// Expects that a request is refused and changes nothing.
  private func expectRefusal(
    _ error: StoreError, _ session: HubSession, _ delta: Delta?
  ) async throws {
    let delta = try #require(delta)
    let version = try await session.version(of: scope)
    let before = try await session.delta(since: ReplicaVersion(), in: scope)
    await #expect(throws: error) {
      try await session.apply(delta, in: self.scope)
    }
    #expect(try await session.version(of: scope) == version)
    #expect(
      try await session.delta(since: ReplicaVersion(), in: scope) == before)
  }

  @Test(arguments: Database.available)
  func largeDeltaMustBeSentInParts(_ database: Database) async throws {
    let session = try await session(database) { $0.recordsPerDelta = 10 }
    let (phone, newcomer) = (replica(1), replica(2))
    try phone.save { transaction in
      for i in 10..<35 { transaction[Note.self, "\(i)"].title = "Note \(i)" }
    }
    try await expectRefusal(
      .tooManyRecords(25, limit: 10), session, phone.delta())
    var held = ReplicaVersion()
    while let part = phone.delta(since: held, byteLimit: 60) {
      try await session.apply(part, in: scope)
      held = try await session.version(of: scope)
    }
    let unlimited = try await self.session(database) {
      ($0.recordsPerDelta, $0.devicesPerScope) = (.max, .max)
      $0.bytesPerRecord = .max
    }
    #expect(
      try await unlimited.delta(since: ReplicaVersion(), in: scope)
        == phone.delta())
    // The same limit holds for the delta that the hub sends.
    await #expect(throws: StoreError.tooManyRecords(11, limit: 10)) {
      try await session.delta(since: ReplicaVersion(), in: self.scope)
    }
    var counts: [Int] = []
    while let part = try await session.delta(
      since: newcomer.version, byteLimit: 1 << 20, in: scope)
    {
      counts.append(part.recordIDs.count)
      guard newcomer.apply(part).hasAdvanced else { break }
    }
    #expect(counts == [10, 10, 5])
    #expect(newcomer.delta() == phone.delta())
  }

  @Test(arguments: Database.available)
  func scopeKeepsLimitedNumberOfDevices(_ database: Database) async throws {
    let session = try await session(database) { $0.devicesPerScope = 3 }
    let phones = (1...5).map { replica(UInt64($0)) }
    let all = replica(9)
    for phone in phones {
      try write(phone, "1")
      all.merge(phone)
    }
    // One delta has too many devices, even for a new scope.
    let delta = try #require(all.delta())
    await #expect(throws: StoreError.tooManyDevices(limit: 3)) {
      try await session.apply(delta, in: self.scope)
    }
    #expect(try await session.version(of: scope) == ReplicaVersion())
    for phone in phones.prefix(3) {
      try await session.apply(#require(phone.delta()), in: scope)
    }
    for phone in phones.suffix(2) {
      try await expectRefusal(
        .tooManyDevices(limit: 3), session, phone.delta())
    }
    // The transaction of two requests counts the devices of both.
    var limits = Hub.Limits()
    limits.devicesPerScope = 1
    let scopes = try HubConnection(
      connect(database), limits: limits, makeDeviceID: DeviceID.random)
    let other = scope + " other"
    let results = try scopes.make(
      try phones.prefix(3).map { phone in
        (other, .join(try #require(phone.delta())) { _ in })
      })
    #expect(results.map { (try? $0.get()) != nil } == [true, false, false])
    #expect(
      try scopes.version(of: other).vectorClock.entries.map(\.device)
        == [phones[0].device])
    // A device that sends a part of its save twice is one device.
    let tablet = replica(7)
    try write(tablet, "1", "2")
    let part = try #require(tablet.delta()?.split(into: 2).first)
    let counts = Locked<[Int]>([])
    limits.devicesPerScope = 2
    let roomy = try HubConnection(
      connect(database), limits: limits, makeDeviceID: DeviceID.random)
    let change = HubChange.join(part) { write in
      counts.withLock { $0.append(write.newDevices) }
    }
    let parts = try roomy.make([(other, change), (other, change)])
    #expect(parts.allSatisfy { (try? $0.get()) != nil })
    #expect(counts.withLock { $0 } == [1, 0])
    // The devices of the scope continue to sync.
    try write(phones[0], "2")
    try await session.apply(#require(phones[0].delta()), in: scope)
    #expect(
      try await session.version(of: scope).vectorClock.entries.count == 3)
  }

  /// A device counts even if the hub has only fields of it.
  @Test(arguments: Database.available)
  func deviceOfIncompleteSaveCounts(_ database: Database) async throws {
    var limits = Hub.Limits()
    limits.devicesPerScope = 2
    let hub = try HubConnection(
      connect(database), limits: limits, makeDeviceID: DeviceID.random)
    let phones = (1...3).map { replica(UInt64($0)) }
    for phone in phones {
      try phone.save { transaction in
        for key in ["1", "2"] { transaction[Note.self, key].title = "Milk" }
      }
    }
    let (first, second) = (
      try #require(phones[0].delta()?.split(into: 2).first),
      try #require(phones[1].delta())
    )
    _ = try hub.apply(first, in: scope)
    _ = try hub.apply(second, in: scope)
    #expect(throws: StoreError.tooManyDevices(limit: 2)) {
      try hub.apply(#require(phones[2].delta()), in: self.scope)
    }
    _ = try hub.apply(#require(phones[0].delta()), in: scope)
    #expect(try hub.version(of: scope).vectorClock.entries.count == 2)
  }

  @Test(arguments: Database.available)
  func recordGrowsToLimit(_ database: Database) async throws {
    let roomy = try await session(database)
    let strict = try await session(database) { $0.bytesPerRecord = 5_000 }
    let phone = replica(1)
    let note = RecordID("Note", "1")
    try phone.save { transaction in
      for i in 0..<1_000 { transaction[Note.self, "1"].tags.insert("tag \(i)") }
      transaction[Note.self, "2"].title = "Bread"
    }
    let all = try #require(phone.delta())
    await #expect {
      try await strict.apply(all, in: self.scope)
    } throws: { error in
      guard case StoreError.recordTooLarge(note, let byteCount, 5_000) = error
      else { return false }
      return byteCount > 5_000
    }
    #expect(try await strict.version(of: scope) == ReplicaVersion())
    try await roomy.apply(all, in: scope)

    func last(_ body: (Transaction) -> Void) throws -> Delta? {
      let before = phone.version
      try phone.save(body)
      return phone.delta(since: before)
    }
    // The record can shrink, and other records can grow.
    try await strict.apply(
      #require(
        try last { transaction in
          for i in 0..<990 {
            transaction[Note.self, "1"].tags.remove("tag \(i)")
          }
        }), in: scope)
    try await strict.apply(
      #require(try last { $0[Note.self, "2"].tags.insert("new") }), in: scope)
    let grown = try #require(
      try last { transaction in
        for i in 0..<1_000 {
          transaction[Note.self, "1"].tags.insert("other \(i)")
        }
      })
    await #expect {
      try await strict.apply(grown, in: self.scope)
    } throws: { error in
      if case StoreError.recordTooLarge = error { true } else { false }
    }
    try await roomy.apply(grown, in: scope)
    #expect(
      try await roomy.delta(since: ReplicaVersion(), in: scope)
        == phone.delta())
  }

  /// A patch adds to the stored bytes, even if it removes content.
  @Test(arguments: Database.available)
  func recordWithPatchesShrinks(_ database: Database) throws {
    let (phone, tablet) = (replica(1), replica(2))
    try phone.save { transaction in
      transaction[Note.self, "1"].title = String(repeating: "x", count: 9_000)
    }
    var limits = Hub.Limits()
    limits.bytesPerRecord = 9_100
    let hub = try HubConnection(
      connect(database), limits: limits, makeDeviceID: DeviceID.random)
    try exchange(phone, hub)
    for i in 0..<20 {
      // Each title is new, so each patch contains a title.
      try exchange(tablet, hub)
      try tablet.save { transaction in
        transaction[Note.self, "1"].title = String(
          repeating: "\(i)", count: 2_000)
      }
      try exchange(tablet, hub)
    }
    try exchange(phone, hub)
    #expect(phone.delta() == tablet.delta())
  }

  /// Devices that need to make a record smaller, or to delete it.
  @Test(arguments: Database.available)
  func fullRecordAcceptsSmallChanges(_ database: Database) throws {
    var limits = Hub.Limits()
    limits.bytesPerRecord = 10_000
    let hub = try HubConnection(
      connect(database), limits: limits, makeDeviceID: DeviceID.random)
    let phones = (1...4).map { replica(UInt64($0)) }
    for (n, phone) in phones.prefix(2).enumerated() {
      try phone.save { transaction in
        for i in 0..<900 {
          transaction[Note.self, "1"].tags.insert("tag \(i) of \(n)")
        }
      }
    }
    // The record exceeds the limit already.
    try exchange(phones[0], self.hub(database))
    let tooLarge = try #require(phones[1].delta())
    #expect { _ = try hub.apply(tooLarge, in: self.scope) } throws: { error in
      if case StoreError.recordTooLarge = error { true } else { false }
    }
    // A device without the record makes a small change.
    try phones[2].save { $0[Note.self, "1"].views.increment(by: 1) }
    try exchange(phones[2], hub)
    // A device that received the record deletes it.
    try exchange(phones[3], hub)
    try phones[3].save { $0.delete(RecordID("Note", "1")) }
    try exchange(phones[3], hub)
    // The refused device receives the record, and removes its own content.
    let rest = try #require(
      try hub.delta(since: phones[1].version, in: scope))
    phones[1].apply(rest)
    try phones[1].save { transaction in
      for i in 0..<900 {
        transaction[Note.self, "1"].tags.remove("tag \(i) of 1")
      }
    }
    try exchange(phones[1], hub)
    try exchange(phones[3], hub)
    #expect(phones[1].delta() == phones[3].delta())
  }

  /// Requests that share a transaction with one that is refused.
  @Test(arguments: Database.available)
  func refusalByLimitConcernsOneRequest(_ database: Database) async throws {
    let session = try await session(database) { $0.bytesPerRecord = 5_000 }
    let scope = self.scope
    let phones = (1...20).map { replica(UInt64($0)) }
    let all = replica(99)
    var deltas: [Delta] = []
    for (i, phone) in phones.enumerated() {
      try phone.save { transaction in
        for tag in 0..<(i == 7 ? 1_000 : 10) {
          transaction[Note.self, "\(i)"].tags.insert("tag \(tag)")
        }
      }
      if i != 7 { all.merge(phone) }
      deltas.append(try #require(phone.delta()))
    }
    let errors = await withTaskGroup(of: (any Error)?.self) { group in
      for delta in deltas {
        group.addTask {
          do { _ = try await session.apply(delta, in: scope) } catch {
            return error
          }
          return nil
        }
      }
      var errors: [any Error] = []
      for await error in group { if let error { errors.append(error) } }
      return errors
    }
    #expect(errors.count == 1)
    guard case StoreError.recordTooLarge? = errors.first as? StoreError else {
      Issue.record("expected another error: \(errors)")
      return
    }
    #expect(
      try await session.delta(since: ReplicaVersion(), in: scope)
        == all.delta())
  }

  @Test(arguments: Database.available)
  func longNameOfScopeIsRefused(_ database: Database) async throws {
    let session = try await session(database)
    let phone = replica(1)
    try write(phone, "1")
    let delta = try #require(phone.delta())
    // An "é" has two bytes.
    let name = scope + String(repeating: "é", count: 1_024)
    let longest = String(decoding: name.utf8.prefix(1_024), as: UTF8.self)
    let tooLong = String(decoding: name.utf8.prefix(1_026), as: UTF8.self)
    try await session.apply(delta, in: longest)
    #expect(
      try await session.delta(since: ReplicaVersion(), in: longest) == delta)
    let error = StoreError.scopeNameTooLong(byteCount: tooLong.utf8.count)
    await #expect(throws: error) { try await session.version(of: tooLong) }
    await #expect(throws: error) {
      try await session.apply(delta, in: tooLong)
    }
    await #expect(throws: error) {
      try await session.recordVersion(
        phone.version, of: phone.device, in: tooLong)
    }
    await #expect(throws: error) {
      try await session.delta(since: ReplicaVersion(), in: tooLong)
    }
    await #expect(throws: error) {
      try await session.delta(
        since: ReplicaVersion(), byteLimit: 100, in: tooLong)
    }
    // The limit is the same for a scope of a device.
    _ = try open(path + ".device", scope: longest)
    #expect(throws: error) {
      try open(self.path + ".device", scope: tooLong)
    }
  }

  /// The two names are equal as strings, but have different bytes.
  @Test(arguments: Database.available)
  func namesOfScopesAreBytes(_ database: Database) async throws {
    struct Refused: Error {}
    let (one, two) = (scope + " \u{e9}", scope + " e\u{301}")
    #expect(one == two)
    #expect(ScopeName(one) != ScopeName(two))
    #expect(ScopeName(two).description.utf8.elementsEqual(two.utf8))
    let path = self.path
    let hub = try await Hub(connections: 2) { try database.connect(path) }
    let all = hub.makeSession { _ in }
    // Requests of both scopes wait at the same time.
    let phones = (1...20).map { replica(UInt64($0)) }
    for phone in phones { try write(phone, "\(phone.device)") }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (i, phone) in phones.enumerated() {
        let delta = try #require(phone.delta())
        group.addTask { try await all.apply(delta, in: i < 10 ? one : two) }
      }
      try await group.waitForAll()
    }
    for (scope, owners) in [(one, phones[..<10]), (two, phones[10...])] {
      #expect(
        Set(try await all.version(of: scope).vectorClock.entries.map(\.device))
          == Set(owners.map(\.device)))
    }
    let name = ScopeName(one)
    let session = hub.makeSession { request in
      guard case .read(name) = request else { throw Refused() }
    }
    _ = try await session.version(of: one)
    await #expect(throws: Refused.self) { try await session.version(of: two) }
  }
}
