// SPDX-License-Identifier: Apache-2.0

@testable import CloudKit
import CloudKitObjects
import CoreData
import Foundation
import RejoinStore
import RejoinSync
import Testing

private struct Item: Entity {
  let title = register("title", of: String.self)
}

private struct ItemRow: Sendable {
  let id, title: String
  let modified: Int64

  init?(_ object: NSManagedObject) {
    guard let id = object.value(forKey: "id") as? String,
      let title = object.value(forKey: "title") as? String,
      let modified = object.value(forKey: "modified") as? Date
    else { return nil }
    (self.id, self.title) = (id, title)
    self.modified = Int64(modified.timeIntervalSince1970 * 1_000)
  }
}

private func pull(
  _ rows: [ItemRow], deleting deleted: [String], into store: ReplicaStore
) async throws {
  for row in rows {
    try await store.withReplica { replica in
      try replica.importRows(from: "core-data", modifiedAt: row.modified) {
        $0[Item.self, row.id].title = row.title
      }
    }
  }
  if deleted.isEmpty { return }
  try await store.save { transaction in
    for id in deleted { transaction[Item.self, id].delete() }
  }
}

private func push(
  _ titles: [String: String], to objects: [NSManagedObject],
  of entity: NSEntityDescription, in context: NSManagedObjectContext
) throws {
  var missing = titles
  for object in objects {
    guard let id = object.value(forKey: "id") as? String else { continue }
    guard let title = missing.removeValue(forKey: id) else {
      context.delete(object)
      continue
    }
    if object.value(forKey: "title") as? String == title { continue }
    object.setValue(title, forKey: "title")
    object.setValue(Date(), forKey: "modified")
  }
  for (id, title) in missing {
    let object = NSManagedObject(entity: entity, insertInto: context)
    object.setValue(id, forKey: "id")
    object.setValue(title, forKey: "title")
    object.setValue(Date(), forKey: "modified")
  }
  try context.save()
}

/// A device whose Core Data syncs through the container's zone, and which the new
/// version also gives a store.
private final class OldAndNew {
  private static let zone = CKRecordZone.ID(
    zoneName: "com.apple.coredata.cloudkit.zone")

  let container: CKContainer
  private let entity = NSEntityDescription()
  private let rows = Store()
  private let context: NSManagedObjectContext
  private(set) var store: ReplicaStore?
  private(set) var engine: SyncEngine?
  /// What Core Data's sync knows.
  private var exported: [String: String] = [:]
  private var token: CKServerChangeToken?
  private var deleted: [String] = []
  var isOnline = true

  init(_ container: CKContainer) {
    self.container = container
    entity.name = "Item"
    entity.properties = ["id", "title", "modified"].map { name in
      let attribute = NSAttributeDescription()
      attribute.name = name
      return attribute
    }
    context = NSManagedObjectContext(rows)
  }

  private var objects: [NSManagedObject] {
    rows.identities(of: entity).map(context.object)
  }

  private func object(_ id: String) -> NSManagedObject? {
    objects.first { $0.value(forKey: "id") as? String == id }
  }

  /// The titles in Core Data.
  var titles: [String: String] {
    Dictionary(
      uniqueKeysWithValues: objects.compactMap { ItemRow($0) }.map {
        ($0.id, $0.title)
      })
  }

  /// Edits an object, as the old version does.
  func write(_ title: String, to id: String) throws {
    let edited =
      object(id) ?? NSManagedObject(entity: entity, insertInto: context)
    edited.setValue(id, forKey: "id")
    edited.setValue(title, forKey: "title")
    edited.setValue(Date(), forKey: "modified")
    try context.save()
  }

  func delete(_ id: String) throws {
    object(id).map(context.delete)
    try context.save()
  }

  /// Lets Core Data sync: an object is a record, and the later one wins.
  func syncOfCoreData() async throws {
    let database = container.privateCloudDatabase
    try await database.save(CKRecordZone(zoneID: Self.zone))
    let local = titles
    let changed = local.filter { exported[$0.key] != $0.value }
    let removed = exported.keys.filter { local[$0] == nil }
    for (id, title) in changed {
      let record = CKRecord(
        recordType: "CD_Item",
        recordID: CKRecord.ID(recordName: id, zoneID: Self.zone))
      record["CD_title"] = title
      record["CD_modified"] = ItemRow(try #require(object(id)))
        .map { Int($0.modified) }
      try await database.modifyRecords(
        saving: [record], deleting: [], savePolicy: .allKeys)
    }
    let ids = removed.map { CKRecord.ID(recordName: $0, zoneID: Self.zone) }
    if !ids.isEmpty {
      try await database.modifyRecords(
        saving: [], deleting: ids, atomically: false)
    }
    var hasMore = true
    while hasMore {
      let page = try await database.recordZoneChanges(
        inZoneWith: Self.zone, since: token)
      for (id, result) in page.modificationResultsByID {
        let record = try result.get().record
        guard let title = record["CD_title"] as? String,
          let modified = record["CD_modified"] as? Int
        else { continue }
        let edited =
          object(id.recordName)
          ?? NSManagedObject(entity: entity, insertInto: context)
        edited.setValue(id.recordName, forKey: "id")
        edited.setValue(title, forKey: "title")
        edited.setValue(
          Date(timeIntervalSince1970: Double(modified) / 1_000),
          forKey: "modified")
      }
      for deletion in page.deletions {
        let id = deletion.recordID.recordName
        if object(id) != nil { deleted.append(id) }
        object(id).map(context.delete)
      }
      try context.save()
      (token, hasMore) = (page.changeToken, page.moreComing)
    }
    exported = titles
  }

  /// Installs the new version.
  func update(to store: ReplicaStore) async throws {
    self.store = store
    engine = SyncEngine(
      store,
      routes: [
        SyncRoute(
          "icloud", scope: "s",
          objects: CloudKitStorage(ZoneSuite.zone, of: container))
      ])
    try await sync()
  }

  /// Syncs with both.
  func sync() async throws {
    if isOnline { try await syncOfCoreData() }
    guard let store, let engine else { return }
    await engine.sync()
    let objects = objects
    try await pull(
      objects.compactMap { ItemRow($0) }, deleting: deleted, into: store)
    deleted = []
    let titles = await store.read { view in
      Dictionary(
        uniqueKeysWithValues: view.records(of: Item.self).compactMap { item in
          item.title.map { (item.id, $0) }
        })
    }
    try push(titles, to: objects, of: entity, in: context)
    await engine.sync()
    if isOnline { try await syncOfCoreData() }
  }

  func save(_ title: String, to id: String) async throws {
    try await store?.save { $0[Item.self, id].title = title }
  }

  var storedTitles: [String: String] {
    get async {
      await store?.read { view in
        Dictionary(
          uniqueKeysWithValues: view.records(of: Item.self).map {
            ($0.id, $0.title ?? "")
          })
      } ?? [:]
    }
  }
}

@Suite class ReplacingNSPersistentCloudKitContainerArticle: ZoneSuite {
  private func newStore() async throws -> ReplicaStore {
    try await ReplicaStore.inMemory(schema: [Item.self])
  }

  private var recordsOfCoreData: [String: String] {
    let zone = "com.apple.coredata.cloudkit.zone"
    return Dictionary(
      uniqueKeysWithValues: server.records(in: zone, of: "anna").map {
        ($0, "\(server.content(of: $0, in: zone, of: "anna"))")
      })
  }

  /// Three devices that update at different times, the last one after months.
  @Test func devicesUpdateOneByOne() async throws {
    let (phone, tablet, old) = (
      OldAndNew(server.device(of: "anna")),
      OldAndNew(server.device(of: "anna")),
      OldAndNew(server.device(of: "anna"))
    )
    try phone.write("Milk", to: "1")
    try phone.write("Bread", to: "2")
    for device in [phone, tablet, old] { try await device.sync() }
    #expect(old.titles == ["1": "Milk", "2": "Bread"])

    // The phone has the new version, and the others get its edits through Core Data.
    try await phone.update(to: newStore())
    #expect(await phone.storedTitles == ["1": "Milk", "2": "Bread"])
    try await phone.save("Oat milk", to: "1")
    try await phone.save("Salt", to: "3")
    for device in [phone, tablet, old] { try await device.sync() }
    #expect(old.titles == ["1": "Oat milk", "2": "Bread", "3": "Salt"])

    // The phone gets edits and deletions of the old version.
    try tablet.write("Rye bread", to: "2")
    try tablet.delete("3")
    try tablet.write("Tea", to: "4")
    for device in [tablet, phone] { try await device.sync() }
    let afterDeletion = ["1": "Oat milk", "2": "Rye bread", "4": "Tea"]
    #expect(await phone.storedTitles == afterDeletion)

    // The tablet has the new version, and Rejoin does not touch the container's zone.
    try await tablet.update(to: newStore())
    try await tablet.save("Whole milk", to: "1")
    let before = recordsOfCoreData
    await tablet.engine?.sync()
    await phone.engine?.sync()
    #expect(recordsOfCoreData == before)
    #expect(await phone.storedTitles["1"] == "Whole milk")
    for device in [phone, tablet, phone] { try await device.sync() }

    // The old device comes back, with an edit of one object and a new one.
    try old.write("Sourdough", to: "2")
    try old.write("Jam", to: "5")
    for device in [old, phone, tablet] { try await device.sync() }
    #expect(await phone.storedTitles["5"] == "Jam")
    try await old.update(to: newStore())
    for _ in 0..<2 {
      for device in [old, phone, tablet] { try await device.sync() }
    }
    let end = ["1": "Whole milk", "2": "Sourdough", "4": "Tea", "5": "Jam"]
    for device in [phone, tablet, old] {
      #expect(await device.storedTitles == end)
      #expect(device.titles == end)
      // Nothing goes back and forth.
      let version = await device.store?.version
      try await device.sync()
      #expect(await device.store?.version == version)
      let conflicts = await device.store?.read { view in
        view.records(of: Item.self).flatMap {
          $0.conflictingValues(of: \.title)
        }
      }
      #expect(conflicts == [])
    }
  }

  /// A device that was updated while it was offline imports what it has.
  @Test func deviceUpdatesOffline() async throws {
    let (phone, old) = (
      OldAndNew(server.device(of: "anna")), OldAndNew(server.device(of: "anna"))
    )
    try phone.write("Milk", to: "1")
    for device in [phone, old] { try await device.sync() }
    try await phone.update(to: newStore())
    try await phone.save("Oat milk", to: "1")
    try await phone.sync()
    try old.write("Jam", to: "2")
    fail(.account, .networkUnavailable)
    old.isOnline = false
    try await old.update(to: newStore())
    #expect(await old.storedTitles == ["1": "Milk", "2": "Jam"])
    old.isOnline = true
    repair()
    for _ in 0..<2 {
      for device in [old, phone] { try await device.sync() }
    }
    for device in [phone, old] {
      #expect(await device.storedTitles == ["1": "Oat milk", "2": "Jam"])
      #expect(device.titles == ["1": "Oat milk", "2": "Jam"])
    }
  }
}
