// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The identity of an object in a store.
open class NSManagedObjectID: NSObject, @unchecked Sendable {
  public let entity: NSEntityDescription
  public let isTemporaryID: Bool
  private let number: Int

  init(_ entity: NSEntityDescription, _ number: Int, isTemporary: Bool) {
    self.entity = entity
    self.number = number
    isTemporaryID = isTemporary
  }

  open func uriRepresentation() -> URL {
    let kind = isTemporaryID ? "t" : "p"
    return URL(filePath: "/\(entity.name ?? "")/\(kind)\(number)")
  }
}

/// An object of a context.
///
/// Relationships hold objects, and keep their inverses.
open class NSManagedObject: NSObject {
  public let entity: NSEntityDescription
  public internal(set) var objectID: NSManagedObjectID
  public internal(set) weak var managedObjectContext: NSManagedObjectContext?
  public internal(set) var isInserted = false
  public internal(set) var isDeleted = false

  var values: [String: Any] = [:]
  /// The values when the object was fetched or saved: attributes, and the IDs
  /// of to-one relationships.
  var snapshot: [String: Any] = [:]
  var version = 0

  init(
    _ entity: NSEntityDescription, _ id: NSManagedObjectID,
    in context: NSManagedObjectContext
  ) {
    self.entity = entity
    objectID = id
    managedObjectContext = context
  }

  /// Inserts a new object.
  public convenience init(
    entity: NSEntityDescription, insertInto context: NSManagedObjectContext
  ) {
    self.init(
      entity, context.store.makeID(of: entity, isTemporary: true), in: context)
    isInserted = true
    for (name, attribute) in entity.attributesByName {
      values[name] = attribute.defaultValue
    }
    context.register(self)
  }

  open func value(forKey key: String) -> Any? {
    guard let relationship = entity.relationshipsByName[key],
      relationship.isToMany
    else { return values[key] }
    if let value = values[key] { return value }
    return relationship.isOrdered ? NSOrderedSet() : Set<NSManagedObject>()
  }

  open func setValue(_ value: Any?, forKey key: String) {
    precondition(managedObjectContext != nil, "an object without a context")
    guard let relationship = entity.relationshipsByName[key] else {
      precondition(entity.attributesByName[key] != nil, "no property \(key)")
      values[key] = value
      return
    }
    let (old, new) = (objects(key), NSManagedObject.objects(in: value))
    values[key] = value
    guard let inverse = relationship.inverseRelationship else { return }
    for other in old where !new.contains(other) { other.remove(self, inverse) }
    for other in new where !old.contains(other) { other.add(self, inverse) }
  }

  private func add(
    _ object: NSManagedObject, _ relationship: NSRelationshipDescription
  ) {
    let name = relationship.name
    guard relationship.isToMany else {
      if let old = values[name] as? NSManagedObject, old !== object,
        let inverse = relationship.inverseRelationship
      {
        old.remove(self, inverse)
      }
      values[name] = object
      return
    }
    set(objects(name) + [object], of: relationship)
  }

  private func remove(
    _ object: NSManagedObject, _ relationship: NSRelationshipDescription
  ) {
    if relationship.isToMany {
      set(objects(relationship.name).filter { $0 !== object }, of: relationship)
    } else if values[relationship.name] as? NSManagedObject === object {
      values[relationship.name] = nil
    }
  }

  func set(
    _ objects: [NSManagedObject], of relationship: NSRelationshipDescription
  ) {
    values[relationship.name] =
      relationship.isOrdered
      ? NSOrderedSet(array: objects) : Set(objects) as Any
  }

  /// Returns the objects of a relationship.
  func objects(_ name: String) -> [NSManagedObject] {
    NSManagedObject.objects(in: values[name])
  }

  static func objects(in value: Any?) -> [NSManagedObject] {
    switch value {
    case let one as NSManagedObject: [one]
    case let many as Set<NSManagedObject>: Array(many)
    case let many as NSOrderedSet:
      many.array.compactMap { $0 as? NSManagedObject }
    default: []
    }
  }

  /// Returns the values when the object was fetched or saved, with `NSNull` for
  /// `nil`.
  open func committedValues(forKeys keys: [String]?) -> [String: Any] {
    let names = Array(entity.attributesByName.keys) + toOneNames
    return Dictionary(
      uniqueKeysWithValues: (keys ?? names).map {
        ($0, snapshot[$0] ?? NSNull())
      })
  }

  /// The attributes and to-one relationships as a row holds them.
  var row: [String: Any] {
    var row: [String: Any] = [:]
    for name in entity.attributesByName.keys { row[name] = values[name] }
    for name in toOneNames { row[name] = objects(name).first?.objectID }
    return row
  }

  var toOneNames: [String] {
    entity.relationshipsByName.values.filter { !$0.isToMany }.map(\.name)
  }

  /// The names of the properties that changed since they were fetched.
  var changedNames: [String] {
    (Array(entity.attributesByName.keys) + toOneNames).filter {
      !isSame(row[$0], snapshot[$0])
    }
  }

  var isUpdated: Bool { !isInserted && !isDeleted && !changedNames.isEmpty }
}

/// Returns whether two values of a property are equal.
func isSame(_ a: Any?, _ b: Any?) -> Bool {
  switch (a, b) {
  case (nil, nil): true
  case (let a?, let b?):
    if let a = a as? AnyHashable, let b = b as? AnyHashable {
      a == b
    } else {
      false
    }
  default: false
  }
}
