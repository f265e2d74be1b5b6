// SPDX-License-Identifier: Apache-2.0

import CoreData
import CoreDataPolicy
import Foundation
import Rejoin
import RejoinPolicies

/// A model with every kind of property, and two contexts on one store.
///
/// The policy belongs to `mine`, and `other` saves first.
final class Scene {
  let store = Store()
  let mine: NSManagedObjectContext
  let other: NSManagedObjectContext
  let person = entity("Person")
  let team = entity("Team")
  let tag = entity("Tag")
  let badge = entity("Badge")
  let note = entity("Note")
  /// The conflicts that the policy reported.
  private(set) var reported: [[FieldDifference]] = []

  init(_ policy: MergePolicy) {
    mine = NSManagedObjectContext(store)
    other = NSManagedObjectContext(store)
    person.uniquenessConstraints = [["email"]]
    person.properties = [
      attribute("email", .stringAttributeType),
      attribute("name", .stringAttributeType),
      attribute("address", .stringAttributeType),
      attribute("phone", .stringAttributeType),
      attribute("birthday", .stringAttributeType),
      attribute("photo", .binaryDataAttributeType),
      attribute("born", .dateAttributeType),
      attribute("height", .doubleAttributeType),
      attribute("isMember", .booleanAttributeType),
      attribute("homepage", .URIAttributeType),
      attribute("visits", .integer64AttributeType, byDefault: Int64(0)),
    ]
    [team, tag, badge, note].forEach {
      $0.properties = [attribute("title", .stringAttributeType)]
    }
    relate(person, "team", toMany: false, team, "members", toMany: true)
    relate(person, "tags", toMany: true, tag, "people", toMany: true)
    relate(person, "notes", toMany: true, note, "person", toMany: false)
    person.relationshipsByName["notes"]?.isOrdered = true
    let badges = NSRelationshipDescription()
    badges.name = "badge"
    badges.cascades = true
    badges.destinationEntity = badge
    person.properties.append(badges)
    mine.mergePolicy = CoreDataMergePolicy(policy) { [weak self] in
      self?.reported.append($1)
    }
  }

  private static func entity(_ name: String) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    return entity
  }

  /// Inserts an object.
  func insert(
    _ entity: NSEntityDescription, in context: NSManagedObjectContext,
    _ values: [String: Any]
  ) -> NSManagedObject {
    let object = NSManagedObject(entity: entity, insertInto: context)
    for (name, value) in values { object.setValue(value, forKey: name) }
    return object
  }

  /// The people in the store, as a new context reads them.
  var people: [NSManagedObject] {
    let context = NSManagedObjectContext(store)
    return store.identities(of: person).map(context.object)
      .sorted { $0["email"] < $1["email"] }
  }
}

private func attribute(
  _ name: String, _ type: NSAttributeType, byDefault value: Any? = nil
) -> NSAttributeDescription {
  let attribute = NSAttributeDescription()
  attribute.name = name
  attribute.attributeType = type
  attribute.defaultValue = value
  return attribute
}

private func relate(
  _ a: NSEntityDescription, _ name: String, toMany: Bool,
  _ b: NSEntityDescription, _ inverse: String, toMany isInverseToMany: Bool
) {
  let (there, back) = (NSRelationshipDescription(), NSRelationshipDescription())
  there.name = name
  back.name = inverse
  there.maxCount = toMany ? 0 : 1
  back.maxCount = isInverseToMany ? 0 : 1
  there.destinationEntity = b
  back.destinationEntity = a
  there.inverseRelationship = back
  back.inverseRelationship = there
  a.properties.append(there)
  b.properties.append(back)
}

extension NSManagedObject {
  /// A text attribute, or an empty text for `nil`.
  subscript(name: String) -> String { value(forKey: name) as? String ?? "" }

  /// Returns the title of a to-one relationship's object.
  func title(of name: String) -> String? {
    (value(forKey: name) as? NSManagedObject)?["title"]
  }

  /// Returns the titles of a to-many relationship's objects, sorted unless it
  /// is ordered.
  func titles(of name: String) -> [String] {
    if let all = value(forKey: name) as? NSOrderedSet {
      return all.array.compactMap { ($0 as? NSManagedObject)?["title"] }
    }
    let all = value(forKey: name) as? Set<NSManagedObject> ?? []
    return all.map { $0["title"] }.sorted()
  }
}
