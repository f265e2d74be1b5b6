// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The rows that contexts share.
public final class Store {
  struct Row {
    var values: [String: Any]
    var version: Int
    /// The objects of ordered and many-to-many relationships.
    var toMany: [String: [NSManagedObjectID]]
  }

  var rows: [NSManagedObjectID: Row] = [:]
  private var lastNumber = 0

  public init() {}

  func makeID(
    of entity: NSEntityDescription, isTemporary: Bool
  ) -> NSManagedObjectID {
    lastNumber += 1
    return NSManagedObjectID(entity, lastNumber, isTemporary: isTemporary)
  }
}

/// A context: objects that are edited apart from their rows.
open class NSManagedObjectContext: NSObject {
  public let store: Store
  public var mergePolicy: Any = NSMergePolicy(merge: .errorMergePolicyType)
  /// Whether conflicts are reported as between the row cache and the database.
  public var hasStaleCache = false

  private var objects: [NSManagedObjectID: NSManagedObject] = [:]
  private var order: [NSManagedObjectID] = []

  public init(_ store: Store) { self.store = store }

  func register(_ object: NSManagedObject) {
    objects[object.objectID] = object
    order.append(object.objectID)
  }

  var registered: [NSManagedObject] { order.compactMap { objects[$0] } }

  /// Returns the object with an ID, and fetches it if it is not in the context.
  open func object(with id: NSManagedObjectID) -> NSManagedObject {
    if let object = objects[id] { return object }
    let object = NSManagedObject(id.entity, id, in: self)
    register(object)
    refresh(object, mergeChanges: false)
    return object
  }

  /// Marks an object as deleted, or removes it if it is new.
  open func delete(_ object: NSManagedObject) {
    if object.isDeleted { return }
    object.isDeleted = true
    for (name, relationship) in object.entity.relationshipsByName {
      for other in object.objects(name) where relationship.cascades {
        delete(other)
      }
      let nothing: Any? =
        relationship.isToMany ? Set<NSManagedObject>() : nil
      object.setValue(nothing, forKey: name)
    }
    if object.isInserted { forget(object) }
  }

  func forget(_ object: NSManagedObject) {
    objects[object.objectID] = nil
    object.managedObjectContext = nil
  }

  /// Discards an object's edits and reads its row, or removes the object if the
  /// row was deleted.
  open func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
    guard let row = store.rows[object.objectID] else {
      object.isDeleted = true
      return forget(object)
    }
    object.isDeleted = false
    object.snapshot = row.values
    object.version = row.version
    object.values = row.values
    for (name, relationship) in object.entity.relationshipsByName {
      if relationship.isToMany {
        let ids =
          row.toMany[name]
          ?? store.rows.filter { other in
            relationship.inverseRelationship.map {
              isSame(other.value.values[$0.name], object.objectID)
            } ?? false
          }.map(\.key)
        object.set(ids.map(self.object), of: relationship)
      } else {
        let id = row.values[name] as? NSManagedObjectID
        object.values[name] = id.map(self.object)
      }
    }
  }

  /// Writes the edits.
  ///
  /// - Throws: The conflicts that the policy leaves.
  open func save() throws {
    guard let policy = mergePolicy as? NSMergePolicy else { return }
    let duplicates = constraintConflicts
    if !duplicates.isEmpty {
      try policy.resolve(constraintConflicts: duplicates)
    }
    try NSMergePolicy.refuse(constraintConflicts)
    let stale = mergeConflicts
    if !stale.isEmpty {
      try policy.resolve(optimisticLockingConflicts: stale)
    }
    try NSMergePolicy.refuse(mergeConflicts)
    write()
  }

  private func write() {
    for object in registered where object.isInserted && !object.isDeleted {
      objects[object.objectID] = nil
      let id = store.makeID(of: object.entity, isTemporary: false)
      if object.objectID.isTemporaryID { object.objectID = id }
      register(object)
    }
    for object in registered {
      if object.isDeleted {
        store.rows[object.objectID] = nil
        forget(object)
        continue
      }
      var toMany: [String: [NSManagedObjectID]] = [:]
      for (name, relationship) in object.entity.relationshipsByName
      where relationship.isToMany
        && (relationship.isOrdered
          || relationship.inverseRelationship?.isToMany != false)
      {
        toMany[name] = object.objects(name).map(\.objectID)
      }
      let isChanged = object.isInserted || object.isUpdated
      object.version += isChanged ? 1 : 0
      object.isInserted = false
      if isChanged || !toMany.isEmpty {
        store.rows[object.objectID] = Store.Row(
          values: object.row, version: object.version, toMany: toMany)
      }
      object.snapshot = object.row
    }
  }
}

/// The objects of an entity.
public final class NSFetchRequest {
  let entityName: String

  public init(entityName: String) { self.entityName = entityName }
}

extension NSManagedObjectContext {
  /// Returns the objects of a request.
  public func fetch(_ request: NSFetchRequest) throws -> [NSManagedObject] {
    store.rows.keys.filter { $0.entity.name == request.entityName }.map(object)
  }

  /// Calls a closure on the queue of the context.
  public func perform<Value>(
    _ body: () throws -> Value
  ) async rethrows -> Value {
    try body()
  }
}

// Detecting the conflicts of a save.
extension NSManagedObjectContext {
  var mergeConflicts: [NSMergeConflict] {
    registered.compactMap { object in
      guard !object.isInserted, object.isUpdated || object.isDeleted
      else { return nil }
      let row = store.rows[object.objectID]
      if row == nil && object.isDeleted || row?.version == object.version {
        return nil
      }
      return NSMergeConflict(
        object, row.map { ($0.version, $0.values) }, isOfCache: !hasStaleCache)
    }
  }

  var constraintConflicts: [NSConstraintConflict] {
    let live = registered.filter {
      !$0.isDeleted && ($0.isInserted || $0.isUpdated)
    }
    var conflicts: [NSConstraintConflict] = []
    var seen: Set<[AnyHashable]> = []
    for object in live {
      for case let keys as [String] in object.entity.uniquenessConstraints {
        let key = keys.compactMap { object.values[$0] as? AnyHashable }
        let name = AnyHashable(object.entity.name)
        guard key.count == keys.count,
          seen.insert([name, AnyHashable(keys)] + key).inserted
        else { continue }
        let same = live.filter { other in
          other.entity === object.entity
            && keys.allSatisfy { isSame(other.values[$0], object.values[$0]) }
        }
        let stored = store.rows.first { id, row in
          id.entity === object.entity
            && keys.allSatisfy { isSame(row.values[$0], object.values[$0]) }
            && isStillSo(id, keys, object)
        }.map { self.object(with: $0.key) }
        let others = same.filter { $0 !== stored }
        if others.count + (stored == nil ? 0 : 1) < 2 { continue }
        conflicts.append(NSConstraintConflict(keys, others, stored))
      }
    }
    return conflicts
  }

  /// Returns whether the context neither deletes a row nor changes its key.
  private func isStillSo(
    _ id: NSManagedObjectID, _ keys: [String], _ object: NSManagedObject
  ) -> Bool {
    guard let known = registered.first(where: { $0.objectID == id })
    else { return true }
    return !known.isDeleted
      && keys.allSatisfy { isSame(known.values[$0], object.values[$0]) }
  }
}

// Reading the store in tests.
extension NSManagedObjectContext {
  public var conflictsWithTheStore: [NSMergeConflict] { mergeConflicts }
  public var conflictsOfKeys: [NSConstraintConflict] { constraintConflicts }
}

extension Store {
  /// Returns the IDs of an entity's rows.
  public func identities(
    of entity: NSEntityDescription
  ) -> [NSManagedObjectID] {
    rows.keys.filter { $0.entity === entity }
  }
}
