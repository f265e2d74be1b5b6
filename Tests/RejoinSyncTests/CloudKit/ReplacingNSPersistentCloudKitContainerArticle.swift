// SPDX-License-Identifier: Apache-2.0

import CloudKitObjects
import CoreData
import Foundation
import RejoinStore
import RejoinSync
import Testing

@testable import CloudKit

private struct Item: Entity {
  let title = register("title", of: String.self)
}

private struct ItemRow: Sendable {
  let object: NSManagedObjectID
  let id, title: String
  let modified: Int64

  init?(_ object: NSManagedObject) {
    guard let id = object.value(forKey: "id") as? String,
      let title = object.value(forKey: "title") as? String
    else { return nil }
    (self.object, self.id, self.title) = (object.objectID, id, title)
    let modified = object.value(forKey: "modified") as? Date
    self.modified = Int64((modified?.timeIntervalSince1970 ?? 0) * 1_000)
  }
}

private func pull(_ rows: [ItemRow], into store: ReplicaStore) async throws {
  for row in rows {
    try await store.withReplica { replica in
      try replica.importRows(from: "core-data", modifiedAt: row.modified) {
        $0[Item.self, row.id].title = row.title
      }
    }
  }
}

private func update(
  _ rows: [ItemRow], from titles: [String: String],
  in context: NSManagedObjectContext
) throws {
  for row in rows {
    let object = context.object(with: row.object)
    // An import that arrived after the pull waits for the next one.
    guard let title = titles[row.id], title != row.title,
      object.value(forKey: "title") as? String == row.title
    else { continue }
    object.setValue(title, forKey: "title")
    object.setValue(Date(), forKey: "modified")
  }
  try context.save()
}

/// The old version: Core Data, which syncs each object as a record under a random name.
private class OldVersion {
  private static let zone = CKRecordZone.ID(
    zoneName: "com.apple.coredata.cloudkit.zone")

  let container: CKContainer
  let entity = NSEntityDescription()
  let context: NSManagedObjectContext
  let request = NSFetchRequest(entityName: "Item")
  /// The object of each record, and its title there, as Core Data's sync knows them.
  private var objects: [String: NSManagedObjectID] = [:]
  private var exported: [String: String] = [:]
  private var token: CKServerChangeToken?
  var isOnline = true

  init(_ container: CKContainer) {
    self.container = container
    entity.name = "Item"
    entity.properties = ["id", "title", "modified"].map { name in
      let attribute = NSAttributeDescription()
      attribute.name = name
      return attribute
    }
    context = NSManagedObjectContext(Store())
  }

  /// The device with the same Core Data, after the app was updated.
  init(updating old: OldVersion) {
    (container, context) = (old.container, old.context)
    (objects, exported, token) = (old.objects, old.exported, old.token)
    isOnline = old.isOnline
    entity.name = "Item"
    entity.properties = old.entity.properties
  }

  private func fetch() throws -> [NSManagedObject] {
    try context.fetch(request)
  }

  /// The IDs and titles in Core Data, also of duplicates.
  var rows: [String] {
    get throws {
      try fetch().compactMap { ItemRow($0) }.map { "\($0.id) \($0.title)" }
        .sorted()
    }
  }

  private func object(_ id: String) throws -> NSManagedObject? {
    try fetch().first { $0.value(forKey: "id") as? String == id }
  }

  func write(_ title: String, to id: String) throws {
    let edited =
      try object(id) ?? NSManagedObject(entity: entity, insertInto: context)
    edited.setValue(id, forKey: "id")
    edited.setValue(title, forKey: "title")
    edited.setValue(Date(), forKey: "modified")
    try context.save()
  }

  func delete(_ id: String) throws {
    try object(id).map(context.delete)
    try context.save()
  }

  /// Lets Core Data export its changes, and then import those of others.
  func syncOfCoreData() async throws {
    guard isOnline else { return }
    let database = container.privateCloudDatabase
    try await database.save(CKRecordZone(zoneID: Self.zone))
    let known = Set(objects.values)
    for object in try fetch() where !known.contains(object.objectID) {
      objects["\(UUID())"] = object.objectID
    }
    let present = Set(try fetch().map(\.objectID))
    for (name, id) in objects {
      let record = CKRecord.ID(recordName: name, zoneID: Self.zone)
      guard present.contains(id), let row = ItemRow(context.object(with: id))
      else {
        objects[name] = nil
        exported[name] = nil
        try await database.modifyRecords(
          saving: [], deleting: [record], atomically: false)
        continue
      }
      if exported[name] == row.title { continue }
      let changed = CKRecord(recordType: "CD_Item", recordID: record)
      changed["CD_id"] = row.id
      changed["CD_title"] = row.title
      changed["CD_modified"] = Int(row.modified)
      try await database.modifyRecords(
        saving: [changed], deleting: [], savePolicy: .allKeys)
      exported[name] = row.title
    }
    try await importChanges(from: database)
  }

  private func importChanges(from database: CKDatabase) async throws {
    var hasMore = true
    while hasMore {
      let page = try await database.recordZoneChanges(
        inZoneWith: Self.zone, since: token)
      for (record, result) in page.modificationResultsByID {
        try take(try result.get().record, named: record.recordName)
      }
      for deletion in page.deletions {
        let name = deletion.recordID.recordName
        if let id = objects.removeValue(forKey: name) {
          context.delete(context.object(with: id))
        }
        exported[name] = nil
      }
      try context.save()
      (token, hasMore) = (page.changeToken, page.moreComing)
    }
  }

  private func take(_ record: CKRecord, named name: String) throws {
    guard let id = record["CD_id"] as? String,
      let title = record["CD_title"] as? String,
      let modified = record["CD_modified"] as? Int
    else { return }
    let edited =
      objects[name].map(context.object)
      ?? NSManagedObject(entity: entity, insertInto: context)
    edited.setValue(id, forKey: "id")
    edited.setValue(title, forKey: "title")
    edited.setValue(
      Date(timeIntervalSince1970: Double(modified) / 1_000), forKey: "modified")
    try context.save()
    objects[name] = edited.objectID
    exported[name] = title
  }
}

/// The new version, with a store beside Core Data.
private final class NewVersion: OldVersion {
  let store: ReplicaStore
  let engine: SyncEngine

  init(updating old: OldVersion, _ store: ReplicaStore) {
    self.store = store
    engine = SyncEngine(
      store,
      routes: [
        SyncRoute(
          "icloud", scope: "s",
          objects: CloudKitStorage(ZoneSuite.zone, of: old.container))
      ])
    super.init(updating: old)
  }

  func addItem(_ title: String, id: String) async throws {
    try await store.save { $0[Item.self, id].title = title }
    try await context.perform {
      let object = NSManagedObject(entity: entity, insertInto: context)
      object.setValue(id, forKey: "id")
      object.setValue(title, forKey: "title")
      object.setValue(Date(), forKey: "modified")
      try context.save()
    }
  }

  func syncWithCoreData() async throws {
    let rows = try await context.perform {
      try context.fetch(request).compactMap { ItemRow($0) }
    }
    try await pull(rows, into: store)
    let titles = await store.read { view in
      Dictionary(
        uniqueKeysWithValues: view.records(of: Item.self).compactMap { item in
          item.title.map { (item.id, $0) }
        })
    }
    try await context.perform { try update(rows, from: titles, in: context) }
  }

  override func syncOfCoreData() async throws {
    try await super.syncOfCoreData()
    await engine.sync()
    try await syncWithCoreData()
    await engine.sync()
    try await super.syncOfCoreData()
  }

  func edit(_ title: String, of id: String) async throws {
    try await store.save { $0[Item.self, id].title = title }
  }

  func remove(_ id: String) async throws {
    try await store.save { $0[Item.self, id].delete() }
    try delete(id)
  }

  var records: [String] {
    get async {
      await store.read { view in
        view.records(of: Item.self).map { "\($0.id) \($0.title ?? "")" }
          .sorted()
      }
    }
  }
}

@Suite class ReplacingNSPersistentCloudKitContainerArticle: ZoneSuite {
  private func old() -> OldVersion { OldVersion(server.device(of: "anna")) }

  private func updated(_ old: OldVersion) async throws -> NewVersion {
    NewVersion(
      updating: old, try await ReplicaStore.inMemory(schema: [Item.self]))
  }

  private func sync(_ devices: OldVersion...) async throws {
    for device in devices { try await device.syncOfCoreData() }
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
    let (first, second, old) = (old(), old(), old())
    try first.write("Milk", to: "1")
    try first.write("Bread", to: "2")
    try await sync(first, second, old)
    #expect(try old.rows == ["1 Milk", "2 Bread"])

    // The phone has the new version, and the others get its edits through Core Data.
    let phone = try await updated(first)
    try await sync(phone)
    #expect(await phone.records == ["1 Milk", "2 Bread"])
    try await phone.edit("Oat milk", of: "1")
    try await phone.addItem("Salt", id: "3")
    try await sync(phone, second, old)
    #expect(try old.rows == ["1 Oat milk", "2 Bread", "3 Salt"])

    // The phone gets edits of the old version.
    try second.write("Rye bread", to: "2")
    try second.write("Tea", to: "4")
    try await sync(second, phone)
    #expect(
      await phone.records == ["1 Oat milk", "2 Rye bread", "3 Salt", "4 Tea"])

    // The tablet has the new version. Rejoin does not touch Core Data's zone.
    let tablet = try await updated(second)
    try await sync(tablet)
    try await tablet.edit("Whole milk", of: "1")
    let before = recordsOfCoreData
    await tablet.engine.sync()
    await phone.engine.sync()
    #expect(recordsOfCoreData == before)
    #expect(await phone.records.first == "1 Whole milk")
    try await tablet.addItem("Rice", id: "6")
    try await phone.remove("3")
    try await sync(phone, tablet, phone)

    // The old device comes back, with an edit and a new object.
    try old.write("Sourdough", to: "2")
    try old.write("Jam", to: "5")
    try await sync(old, phone, tablet, old)
    let end = [
      "1 Whole milk", "2 Sourdough", "4 Tea", "5 Jam", "6 Rice",
    ]
    #expect(await phone.records == end)
    #expect(try old.rows == end)
    let last = try await updated(old)
    try await sync(last, phone, tablet, last)
    for device in [phone, tablet, last] {
      #expect(await device.records == end)
      // No device shows a duplicate.
      #expect(try device.rows == end)
      // Nothing goes back and forth.
      let version = await device.store.version
      try await sync(device)
      #expect(await device.store.version == version)
      let conflicts = await device.store.read { view in
        view.records(of: Item.self).flatMap {
          $0.conflictingValues(of: \.title)
        }
      }
      #expect(conflicts == [])
    }
  }

  /// A device that was updated while it was offline imports what it has.
  @Test func deviceUpdatesOffline() async throws {
    let (first, old) = (old(), old())
    try first.write("Milk", to: "1")
    try await sync(first, old)
    let phone = try await updated(first)
    try await sync(phone)
    try await phone.edit("Oat milk", of: "1")
    try await sync(phone)
    try old.write("Jam", to: "2")
    fail(.account, .networkUnavailable)
    old.isOnline = false
    let last = try await updated(old)
    try await sync(last)
    #expect(await last.records == ["1 Milk", "2 Jam"])
    last.isOnline = true
    repair()
    try await sync(last, phone, last)
    for device in [phone, last] {
      #expect(await device.records == ["1 Oat milk", "2 Jam"])
      #expect(try device.rows == ["1 Oat milk", "2 Jam"])
    }
  }

  /// An object without a time, as the old version saved it, is neither lost nor newer
  /// than an edit.
  @Test func objectWithoutTimeIsPulled() async throws {
    let phone = try await updated(old())
    let object = NSManagedObject(
      entity: phone.entity, insertInto: phone.context)
    object.setValue("1", forKey: "id")
    object.setValue("Milk", forKey: "title")
    try phone.context.save()
    try await phone.syncWithCoreData()
    #expect(await phone.records == ["1 Milk"])
    try await phone.edit("Oat milk", of: "1")
    try await phone.syncWithCoreData()
    #expect(try phone.rows == ["1 Oat milk"])
  }
}
