// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import RejoinStore

/// Changes that report references whose record appears or disappears.
@Suite final class ReferenceObservationTests: StoreSuite {
  private struct Shelf: Entity {
    let name = register("name", of: String.self)
  }

  private struct Jar: Entity {
    let label = register("label", of: String.self)
    let shelf = toOne("shelf", Shelf.self)
    let near = toMany("near", Shelf.self)
  }

  private let writer = SwitchedWriter()

  private func store(
    writing writer: TableWriter? = nil
  ) async throws -> ReplicaStore {
    try await ReplicaStore(
      at: path, schema: [Shelf.self, Jar.self], writing: writer,
      wallClock: ManualClock().wallClock, token: tokenStorage,
      makeDeviceID: { DeviceID(1) })
  }

  private func jars(
    _ iterator: inout StoreUpdates.Iterator
  ) async throws -> [RecordChanges.TypedChange<Jar>] {
    try #require(try await iterator.nextChanges()).changes(to: Jar.self)
  }

  @Test func referencesFollowTheirRecord() async throws {
    let store = try await store()
    try await store.save { transaction in
      transaction[Jar.self, "1"].shelf = Reference("top")
      transaction[Jar.self, "2"].near.insert(Reference("top"))
      transaction[Jar.self, "3"].label = "apart"
    }
    var changes = await store.changes.makeAsyncIterator()
    _ = try await changes.next()
    try await store.save { $0[Shelf.self, "top"].name = "Top" }
    var jars = try await jars(&changes)
    #expect(jars.map(\.key) == ["1", "2"])
    #expect(jars[0].old?.shelf == nil && jars[0].new?.shelf?.key == "top")
    #expect(jars[1].old?.near == [] && jars[1].new?.near.count == 1)
    // A change of an existing record does not affect references to it.
    try await store.save { $0[Shelf.self, "top"].name = "Upper" }
    jars = try await self.jars(&changes)
    #expect(jars.isEmpty)
    try await store.save { $0[Shelf.self, "top"].delete() }
    jars = try await self.jars(&changes)
    #expect(jars.map(\.key) == ["1", "2"])
    #expect(jars[0].old?.shelf?.key == "top" && jars[0].new?.shelf == nil)
    try await store.save { $0.undelete(RecordID("Shelf", "top")) }
    jars = try await self.jars(&changes)
    #expect(jars.map(\.new?.shelf?.key) == ["top", nil])
  }

  /// The former reference was shown, although its record is deleted now.
  @Test func changedRecordShowsFormerReference() async throws {
    let store = try await store()
    try await store.save { transaction in
      transaction[Shelf.self, "top"].name = "Top"
      transaction[Jar.self, "1"].shelf = Reference("top")
    }
    var changes = await store.changes.makeAsyncIterator()
    _ = try await changes.next()
    try await store.save { transaction in
      transaction[Shelf.self, "top"].delete()
      transaction[Jar.self, "1"].label = "Honey"
    }
    let jars = try await jars(&changes)
    #expect(jars.map(\.key) == ["1"])
    #expect(jars[0].old?.shelf?.key == "top" && jars[0].new?.shelf == nil)
  }

  @Test func movedReferencesAreFollowed() async throws {
    let store = try await store()
    var changes = await store.changes.makeAsyncIterator()
    _ = try await changes.next()
    try await store.save { $0[Jar.self, "1"].shelf = Reference("top") }
    try await store.save { $0[Jar.self, "1"].shelf = Reference("low") }
    _ = try await changes.nextChanges()
    try await store.save { $0[Shelf.self, "top"].name = "Top" }
    #expect(try await jars(&changes).isEmpty)
    try await store.save { $0[Shelf.self, "low"].name = "Low" }
    #expect(try await jars(&changes).map(\.key) == ["1"])
    try await store.save { $0[Jar.self, "1"].delete() }
    _ = try await changes.nextChanges()
    // A deleted record shows nothing.
    try await store.save { $0[Shelf.self, "low"].delete() }
    #expect(try await jars(&changes).isEmpty)
  }

  @Test func refusedChangeLeavesReferences() async throws {
    let store = try await store(writing: writer.write)
    try await store.save { $0[Jar.self, "1"].shelf = Reference("top") }
    var changes = await store.changes.makeAsyncIterator()
    _ = try await changes.next()
    writer.refuse()
    await #expect(throws: Refused.self) {
      try await store.save { transaction in
        transaction[Jar.self, "1"].shelf = Reference("low")
        transaction[Jar.self, "2"].shelf = Reference("top")
      }
    }
    writer.current = nil
    try await store.save { $0[Shelf.self, "top"].name = "Top" }
    #expect(try await jars(&changes).map(\.key) == ["1"])
  }

  @Test func valuesOfRecordFollowReferences() async throws {
    let store = try await store()
    try await store.save { $0[Jar.self, "1"].shelf = Reference("top") }
    var values = store.values(of: Jar.self, key: "1").makeAsyncIterator()
    #expect(try await values.next()??.shelf == nil)
    // This record is created while it is observed.
    var later = store.values(of: Jar.self, key: "2").makeAsyncIterator()
    #expect(try await later.next()! == nil)
    try await store.save { $0[Jar.self, "2"].shelf = Reference("top") }
    #expect(try await later.next()??.shelf == nil)
    try await store.save { $0[Shelf.self, "top"].name = "Top" }
    #expect(try await values.next()??.shelf?.key == "top")
    #expect(try await later.next()??.shelf?.key == "top")
    try await store.save { $0[Shelf.self, "top"].delete() }
    #expect(try await values.next()??.shelf == nil)
  }

  @Test func failedSaveLeavesReferencesKnown() async throws {
    let store = try await store(writing: writer.write)
    var changes = await store.changes.makeAsyncIterator()
    _ = try await changes.next()
    try await store.save { $0[Jar.self, "1"].shelf = Reference("top") }
    _ = try await jars(&changes)
    writer.refuse()
    for isWritten in [false, true] {
      await #expect(throws: Refused.self) {
        try await store.save {
          $0[Jar.self, "1"].shelf = Reference("bottom")
          $0[Jar.self, "2"].shelf = Reference("top")
          if !isWritten { throw Refused() }
        }
      }
    }
    writer.current = nil
    try await store.save { $0[Shelf.self, "bottom"].name = "Bottom" }
    #expect(try await jars(&changes).isEmpty)
    try await store.save { $0[Shelf.self, "top"].name = "Top" }
    #expect(try await jars(&changes).map(\.key) == ["1"])
  }

  /// The index forgets records whose observers ended.
  @Test func endedObserversAreForgotten() throws {
    let replica = Replica(
      device: DeviceID(1), schema: [Shelf.self, Jar.self],
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(9) })
    let observers = ChangeObservers()
    var index: ReferrerIndex?
    func observe(_ key: String) -> AsyncStream<Void> {
      observers.observe(RecordID("Jar", key)).signals
    }
    let stays = observe("stays")
    for number in 0..<1000 {
      _ = observe("\(number)")
      observers.update(&index, of: replica, observingAll: false)
    }
    #expect(try #require(index?.observed).count < 100)
    #expect(index?.observed?.contains(RecordID("Jar", "stays")) == true)
    withExtendedLifetime(stays) {}
  }

  /// A list that follows the changes shows what the store shows, after each
  /// part of a transfer.
  @Test func listFollowsTransferInParts() async throws {
    let store = try await store()
    let peer = Replica(
      device: DeviceID(8), schema: [Shelf.self, Jar.self],
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(9) })
    try peer.save { transaction in
      transaction[Shelf.self, "top"].name = "Top"
      for i in 0..<50 {
        transaction[Jar.self, "\(i)"].shelf = Reference("top")
      }
    }
    var changes = await store.changes.makeAsyncIterator()
    _ = try await changes.next()
    var shown: Set<String> = []
    var counts: Set<Int> = []
    func follow() async throws {
      for change in try await jars(&changes) {
        if change.new?.shelf?.key == "top" {
          shown.insert(change.key)
        } else {
          shown.remove(change.key)
        }
      }
      let expected = await store.read { view in
        view.records(of: Jar.self).filter { $0.shelf?.key == "top" }.map(\.id)
      }
      #expect(shown == Set(expected))
      counts.insert(shown.count)
    }
    while let part = peer.delta(
      since: await store.version, byteLimit: 300)
    {
      guard try await store.apply(part).hasAdvanced else { break }
      try await follow()
    }
    #expect(counts.contains(0) && counts.contains(50))
    try await store.save { $0[Shelf.self, "top"].delete() }
    try await follow()
    #expect(shown.isEmpty)
    try await store.save { $0[Shelf.self, "top"].name = "Again" }
    try await follow()
    #expect(shown.count == 50)
  }
}
