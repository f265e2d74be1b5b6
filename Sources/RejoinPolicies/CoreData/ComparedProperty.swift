// SPDX-License-Identifier: Apache-2.0

#if canImport(CoreData)
  import CoreData
  import Foundation
  import Rejoin
  #if CORE_DATA_STAND_IN
    import RejoinPolicies
  #endif

  /// The base, mine and store values of an attribute or a to-one relationship.
  struct ComparedProperty {
    let name: String
    let isRelationship: Bool
    /// Whether the object is new, so its base is the attribute's default value.
    private let isNew: Bool
    private let base: Side
    private let mine: Side
    private let store: Side

    /// A Core Data object and the field value that represents it.
    private struct Side {
      let object: Any?
      let value: Value?
    }

    private init(
      _ property: NSPropertyDescription, isNew: Bool = false, base: Any?,
      mine: Any?, store: Any?
    ) {
      name = property.name
      self.isNew = isNew
      isRelationship = property is NSRelationshipDescription
      let type = (property as? NSAttributeDescription)?.attributeType
      let objects = [base, mine, store].map { $0 is NSNull ? nil : $0 }
      let values = Value.distinguishing(objects, type)
      self.base = Side(object: objects[0], value: values[0])
      self.mine = Side(object: objects[1], value: values[1])
      self.store = Side(object: objects[2], value: values[2])
    }

    /// Returns the properties of an object in conflict with its row.
    ///
    /// A property that is missing from a snapshot is left out and does not
    /// change.
    static func all(in conflict: NSMergeConflict) -> [ComparedProperty] {
      let object = conflict.sourceObject
      let wasDeleted = conflict.newVersionNumber == 0
      let store = conflict.persistedSnapshot ?? conflict.cachedSnapshot
      let base =
        conflict.objectSnapshot ?? conflict.cachedSnapshot
        ?? object.committedValues(forKeys: nil)
      return properties(of: object).compactMap { property in
        guard let base = base[property.name],
          wasDeleted || store?[property.name] != nil
        else { return nil }
        return ComparedProperty(
          property, base: object.live(base),
          mine: object.isDeleted ? nil : object.value(forKey: property.name),
          store: wasDeleted ? nil : object.live(store?[property.name]))
      }
    }

    /// Returns the properties of an object that is merged into another.
    ///
    /// The base of a new object is the default values, since the user did not
    /// set them.
    static func all(
      of object: NSManagedObject, into survivor: NSManagedObject
    ) -> [ComparedProperty] {
      let committed =
        object.isInserted ? [:] : object.committedValues(forKeys: nil)
      return properties(of: object).map { property in
        let byDefault = (property as? NSAttributeDescription)?.defaultValue
        return ComparedProperty(
          property, isNew: object.isInserted,
          base: object.isInserted
            ? byDefault : object.live(committed[property.name]),
          mine: object.value(forKey: property.name),
          store: survivor.value(forKey: property.name))
      }
    }

    private static func properties(
      of object: NSManagedObject
    ) -> [NSPropertyDescription] {
      let toOne = object.entity.relationshipsByName.values.filter {
        !$0.isToMany
      }
      let all: [NSPropertyDescription] =
        Array(object.entity.attributesByName.values) + toOne
      return all.filter { !$0.isTransient }.sorted { $0.name < $1.name }
    }

    /// Returns the property as a merge policy's field.
    func difference(storeWasDeleted: Bool = false) -> FieldDifference {
      FieldDifference(
        field: name, base: base.value, mine: mine.value, store: store.value,
        storeWasDeleted: storeWasDeleted)
    }

    /// Returns the final value of the property.
    ///
    /// - Parameters:
    ///   - outcome: The policy's decision on the property.
    ///   - storeWasDeleted: Whether the row was deleted. If so, the store has
    ///     no value, and a property that the policy does not write gets its
    ///     base value.
    func result(
      _ outcome: FieldOutcome?, storeWasDeleted: Bool = false
    ) -> Any? {
      let kept = storeWasDeleted ? base.object : store.object
      switch outcome {
      case .write(let value), .writeConcurrently(let value):
        // `overwrite` also writes values that the user did not set. A `nil` or
        // a default value must not replace the store's value.
        if value == mine.value, value == base.value, isNew || value == nil {
          return kept
        }
        return object(for: value)
      case .keepStore, .reportConflict, nil: return kept
      }
    }

    /// Returns whether a result is the object that the context set.
    func isMine(_ result: Any?) -> Bool {
      guard let result = result as? NSManagedObject else { return false }
      return result === mine.object as? NSManagedObject
    }

    private func object(for value: Value?) -> Any? {
      guard let value else { return nil }
      let side = [mine, store, base].first { $0.value == value }
      return side.map(\.object) ?? value.object
    }
  }

  extension NSManagedObject {
    /// Returns a snapshot's value as the property stores it, with the object
    /// instead of its ID.
    fileprivate func live(_ value: Any?) -> Any? {
      guard let id = value as? NSManagedObjectID else { return value }
      return managedObjectContext?.object(with: id)
    }
  }
#endif
