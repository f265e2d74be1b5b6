// SPDX-License-Identifier: Apache-2.0

// A stand-in for Core Data, to test the policy on platforms without Core Data.
// It contains Apple's names and signatures that the policy needs.

import Foundation

/// The type of an attribute.
public enum NSAttributeType: UInt, Sendable {
  case undefinedAttributeType = 0
  case integer16AttributeType = 100
  case integer32AttributeType = 200
  case integer64AttributeType = 300
  case decimalAttributeType = 400
  case doubleAttributeType = 500
  case floatAttributeType = 600
  case stringAttributeType = 700
  case booleanAttributeType = 800
  case dateAttributeType = 900
  case binaryDataAttributeType = 1000
  case UUIDAttributeType = 1100
  case URIAttributeType = 1200
  case transformableAttributeType = 1800
  case objectIDAttributeType = 2000
}

/// An attribute or a relationship.
open class NSPropertyDescription: NSObject {
  public var name = ""
  public var isTransient = false
}

/// An attribute.
open class NSAttributeDescription: NSPropertyDescription {
  public var attributeType = NSAttributeType.undefinedAttributeType
  public var defaultValue: Any?
}

/// A relationship.
open class NSRelationshipDescription: NSPropertyDescription {
  public var maxCount = 1
  public var isOrdered = false
  public weak var destinationEntity: NSEntityDescription?
  public weak var inverseRelationship: NSRelationshipDescription?
  /// Whether deleting an object deletes what it refers to.
  public var cascades = false

  public var isToMany: Bool { maxCount != 1 }
}

/// An entity.
open class NSEntityDescription: NSObject {
  public var name: String?
  public var properties: [NSPropertyDescription] = []
  public var uniquenessConstraints: [[Any]] = []

  public var attributesByName: [String: NSAttributeDescription] { byName() }

  public var relationshipsByName: [String: NSRelationshipDescription] {
    byName()
  }

  private func byName<P: NSPropertyDescription>() -> [String: P] {
    Dictionary(
      uniqueKeysWithValues: properties.compactMap { $0 as? P }
        .map { ($0.name, $0) })
  }
}
