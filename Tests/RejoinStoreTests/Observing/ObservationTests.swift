// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

/// The sequences of changes and values of a store.
@Suite final class ObservationTests: StoreSuite {
  private func store() async throws -> ReplicaStore {
    try await ReplicaStore(
      at: path, schema: [Note.self], wallClock: ManualClock().wallClock,
      token: tokenStorage, makeDeviceID: { DeviceID(1) })
  }

  private func peer() -> Replica {
    Replica(
      device: DeviceID(8), schema: [Note.self],
      wallClock: ManualClock().wallClock,
      makeDeviceID: { DeviceID(9) })
  }

  @Test func changesReportSavesAndMerges() async throws {
    let store = try await store()
    var changes = await store.changes.makeAsyncIterator()
    _ = try await changes.next()
    try await store.save { $0[Note.self, "1"].title = "first" }
    var told = try #require(try await changes.nextChanges()).changes(
      to: Note.self)
    #expect(told.map(\.key) == ["1"])
    #expect(told[0].old == nil && told[0].new?.title == "first")

    let peer = peer()
    try peer.save { transaction in
      transaction[Note.self, "1"].views.increment()
      transaction[Note.self, "2"].title = "theirs"
    }
    try await store.apply(#require(peer.delta()))
    told = try #require(try await changes.nextChanges()).changes(to: Note.self)
    #expect(told.map(\.key) == ["1", "2"])
    #expect(told[0].old?.title == "first" && told[0].old?.views == 0)
    #expect(told[0].new?.title == "first" && told[0].new?.views == 1)

    try await store.save { $0[Note.self, "1"].delete() }
    let all = try #require(try await changes.nextChanges())
    told = all.changes(to: Note.self)
    #expect(told.count == 1 && told[0].old?.title == "first")
    #expect(told[0].new == nil)
    // The deleted record still has an author.
    let record = try #require(all[RecordID("Note", "1")]?.new)
    #expect(
      !record.exists
        && record.value(of: FieldKey("title", .register)) == .string("first"))
  }

  @Test func changesStartWithCurrentRecords() async throws {
    let store = try await store()
    for key in ["b", "a"] {
      try await store.save { $0[Note.self, key].title = key }
    }
    let changes = await store.changes
    // These changes come before the first iteration.
    try await store.save { $0[Note.self, "c"].title = "c" }
    try await store.save { $0[Note.self, "a"].delete() }
    var iterator = changes.makeAsyncIterator()
    guard case .recordIDs(let ids)? = try await iterator.next() else {
      Issue.record("the first element does not list the records")
      return
    }
    #expect(ids == ["a", "b"].map { RecordID("Note", $0) })
    let later = try #require(try await iterator.nextChanges()).changes(
      to: Note.self)
    #expect(later.map(\.key) == ["a", "c"])
    #expect(later.map(\.old?.title) == ["a", nil])
    #expect(later.map(\.new?.title) == [nil, "c"])
  }

  /// Each observer derives the list of records from its changes.
  @Test func changesMissNoConcurrentSave() async throws {
    let store = try await store()
    let writer = Task {
      for i in 0..<400 {
        try await store.save { transaction in
          if i % 3 == 2 {
            transaction[Note.self, "\(i % 7)"].delete()
          } else {
            transaction[Note.self, "\(i % 7)"].views.increment()
          }
        }
      }
      try await store.close()
    }
    let observers = (0..<8).map { number in
      Task {
        for _ in 0..<(number * 300) { await Task.yield() }
        let changes = await store.changes
        for _ in 0..<(number * 100) { await Task.yield() }
        var keys: Set<String> = []
        do {
          for try await update in changes {
            switch update {
            case .recordIDs(let ids): keys = Set(ids.map(\.key))
            case .changes(let changes):
              for change in changes.changes(to: Note.self) {
                if change.new == nil {
                  keys.remove(change.key)
                } else {
                  keys.insert(change.key)
                }
              }
            }
          }
        } catch StoreError.closed {}
        return keys
      }
    }
    try await writer.value
    let last = await Set(
      store.read { $0.recordIDs(of: Note.self) }.map(\.key))
    #expect(!last.isEmpty)
    for observer in observers { #expect(try await observer.value == last) }
  }

  /// Records of different entities may have equal keys.
  @Test func changesAreSelectedByEntity() async throws {
    struct Draft: Entity {
      let title = register("title", of: String.self)
    }
    let store = try await ReplicaStore(
      at: path, schema: [Note.self, Draft.self],
      wallClock: ManualClock().wallClock, token: tokenStorage,
      makeDeviceID: { DeviceID(1) })
    var changes = await store.changes.makeAsyncIterator()
    _ = try await changes.next()
    try await store.save { transaction in
      transaction[Note.self, "1"].title = "note"
      transaction[Draft.self, "1"].title = "draft"
    }
    let told = try #require(try await changes.nextChanges())
    #expect(told.changes(to: Note.self).map(\.new?.title) == ["note"])
    #expect(told.changes(to: Draft.self).map(\.new?.title) == ["draft"])
  }

  /// The full disk prevents the commit.
  @Test func changesOmitSaveOnFullDisk() throws {
    let connection = try SQLiteConnection(opening: path)
    let scope = try StoredScope(
      "main", on: connection, schema: [Note.self],
      wallClock: ManualClock().wallClock, token: tokenStorage,
      makeDeviceID: { DeviceID(1) })
    let (pending, signals) = scope.observers.observe()
    let used = try #require(try connection.integer("PRAGMA page_count"))
    try connection.run("PRAGMA max_page_count = \(used)")
    #expect(throws: StoreError.self) {
      try scope.update { replica in
        try replica.save { transaction in
          for i in 0..<1000 { transaction[Note.self, "\(i)"].title = "new" }
        }
      }
    }
    #expect(pending.take() == nil)
    try connection.run("PRAGMA max_page_count = 100000")
    try scope.write("kept")
    #expect(pending.take()?.all.count == 1)
    _ = signals
  }

  /// A late iteration receives all changes in one element.
  @Test func changesAreCombinedUntilRead() async throws {
    let store = try await store()
    try await store.save { $0[Note.self, "1"].title = "before" }
    var changes = await store.changes.makeAsyncIterator()
    _ = try await changes.next()
    for i in 0..<100 {
      try await store.save { transaction in
        transaction[Note.self, "\(i % 3)"].title = "title \(i)"
      }
    }
    let told = try #require(try await changes.nextChanges()).changes(
      to: Note.self)
    #expect(told.map(\.old?.title) == [nil, "before", nil])
    #expect(told.map(\.new?.title) == ["title 99", "title 97", "title 98"])
    // The next element contains only later changes.
    try await store.save { $0[Note.self, "last"].ensureExists() }
    #expect(try await changes.nextChanges()?.all.map(\.id.key) == ["last"])
  }

  @Test func changesOmitThrowingSave() async throws {
    struct Failure: Error {}
    let store = try await store()
    var changes = await store.changes.makeAsyncIterator()
    _ = try await changes.next()
    await #expect(throws: Failure.self) {
      try await store.withReplica { replica in
        try replica.save { $0[Note.self, "lost"].title = "lost" }
        throw Failure()
      }
    }
    await #expect(throws: Failure.self) {
      try await store.save { _ in throw Failure() }
    }
    try await store.save { $0[Note.self, "1"].title = "saved" }
    #expect(try await changes.nextChanges()?.all.map(\.id.key) == ["1"])
  }

  @Test func everyObserverReceivesChanges() async throws {
    let store = try await store()
    let (one, other) = (await store.changes, await store.changes)
    try await store.save { $0[Note.self, "1"].title = "title" }
    for changes in [one, other] {
      var changes = changes.makeAsyncIterator()
      _ = try await changes.next()
      #expect(try await changes.nextChanges()?.all.count == 1)
    }
    func leave() async { _ = await store.changes }
    await leave()
    #expect(!store.observers.isEmpty)
    withExtendedLifetime((one, other)) {}
  }

  @Test func endedObserverIsForgotten() async throws {
    let store = try await store()
    do {
      var changes = await store.changes.makeAsyncIterator()
      _ = try await changes.next()
      try await store.save { $0[Note.self, "1"].title = "title" }
      #expect(try await changes.next() != nil)
    }
    #expect(store.observers.isEmpty)
    try await store.save { $0[Note.self, "1"].title = "more" }
    #expect(await store.read { $0.replica.current.formerRecords == nil })
  }

  @Test func sequencesEndWithStore() async throws {
    var store: ReplicaStore? = try await store()
    var changes = try #require(await store?.changes).makeAsyncIterator()
    _ = try await changes.next()
    let values = try #require(store?.values(of: Note.self, key: "1"))
    try await store?.save { $0[Note.self, "1"].title = "last" }
    store = nil
    // Pending changes come before the end.
    #expect(try await changes.nextChanges()?.all.count == 1)
    #expect(try await changes.next() == nil)
    var titles: [String?] = []
    for try await value in values { titles.append(value?.title) }
    #expect(titles == ["last"])
  }

  /// Keys are compared as bytes.
  @Test func valuesFollowOneRecord() async throws {
    let store = try await store()
    let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
    var values = store.values(of: Note.self, key: composed).makeAsyncIterator()
    _ = try await values.next()
    try await store.save { $0[Note.self, decomposed].title = "other" }
    try await store.save { $0[Note.self, composed].title = "this one" }
    #expect(try await values.next()??.title == "this one")
  }

  @Test func currentValueIsDeliveredOnce() async throws {
    var store: ReplicaStore? = try await store()
    let values = try #require(store?.values(of: Note.self, key: "1"))
    let count = Task {
      var count = 0
      for try await _ in values where count < 1000 { count += 1 }
      return count
    }
    for _ in 0..<10_000 { await Task.yield() }
    store = nil
    #expect(try await count.value <= 1)
  }

  @Test func changesOmitFoldWithoutEffect() async throws {
    let store = try await store()
    try await store.save { $0[Note.self, "1"].log.append(1) }
    #expect(try await store.withReplica { $0.foldLedgers() } == 1)
    var changes = await store.changes.makeAsyncIterator()
    _ = try await changes.next()
    #expect(try await store.withReplica { $0.foldLedgers() } == 0)
    try await store.save { $0[Note.self, "2"].ensureExists() }
    #expect(try await changes.nextChanges()?.all.map(\.id.key) == ["2"])
  }

  @Test func valuesStartWithCurrentOne() async throws {
    let store = try await store()
    var values = store.values(of: Note.self, key: "1").makeAsyncIterator()
    func isMissing() async throws -> Bool {
      if case .some(.none) = try await values.next() { true } else { false }
    }
    #expect(try await isMissing())
    try await store.save { $0[Note.self, "1"].title = "first" }
    #expect(try await values.next()??.title == "first")
    // The sequence ignores another record.
    try await store.save { $0[Note.self, "2"].title = "other" }
    try await store.save { $0[Note.self, "1"].title = "second" }
    #expect(try await values.next()??.title == "second")
    try await store.save { $0[Note.self, "1"].delete() }
    #expect(try await isMissing())
  }
}

extension AsyncIteratorProtocol where Element == StoreUpdate {
  /// Returns the next changes, or `nil` if the sequence ended.
  mutating func nextChanges() async throws -> RecordChanges? {
    guard let update = try await next() else { return nil }
    guard case .changes(let changes) = update else {
      Issue.record("the sequence lists the records again")
      return nil
    }
    return changes
  }
}
