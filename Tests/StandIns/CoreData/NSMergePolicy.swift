// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A conflict between an object and its row.
open class NSMergeConflict: NSObject {
  public let sourceObject: NSManagedObject
  public let objectSnapshot: [String: Any]?
  public let cachedSnapshot: [String: Any]?
  public let persistedSnapshot: [String: Any]?
  public let newVersionNumber: Int
  public let oldVersionNumber: Int

  /// Creates a conflict.
  ///
  /// Without a row, the row was deleted.
  init(
    _ object: NSManagedObject, _ row: (version: Int, values: [String: Any])?,
    isOfCache: Bool
  ) {
    let old = object.committedValues(forKeys: nil)
    let new = row.map { row in
      old.reduce(into: [:]) { $0[$1.key] = row.values[$1.key] ?? NSNull() }
    }
    sourceObject = object
    oldVersionNumber = object.version
    newVersionNumber = row?.version ?? 0
    persistedSnapshot = isOfCache ? nil : new
    cachedSnapshot = isOfCache ? new : old
    objectSnapshot = persistedSnapshot == nil ? old : nil
  }
}

/// A conflict between objects with one unique key.
open class NSConstraintConflict: NSObject {
  public let constraint: [String]
  public let constraintValues: [String: Any]
  public let databaseObject: NSManagedObject?
  public let databaseSnapshot: [String: Any]?
  public let conflictingObjects: [NSManagedObject]
  public let conflictingSnapshots: [[AnyHashable: Any]]

  init(
    _ constraint: [String], _ objects: [NSManagedObject],
    _ stored: NSManagedObject?
  ) {
    self.constraint = constraint
    constraintValues = constraint.reduce(into: [:]) {
      $0[$1] = objects.first?.values[$1]
    }
    databaseObject = stored
    databaseSnapshot = stored?.committedValues(forKeys: nil)
    conflictingObjects = objects
    conflictingSnapshots = objects.map { $0.isInserted ? [:] : $0.snapshot }
  }
}

/// How a policy merges.
public enum NSMergePolicyType: UInt, Sendable {
  case errorMergePolicyType
  case mergeByPropertyStoreTrumpMergePolicyType
  case mergeByPropertyObjectTrumpMergePolicyType
  case overwriteMergePolicyType
  case rollbackMergePolicyType
}

/// The codes of Core Data's errors.
public let NSManagedObjectMergeError = 133_020
public let NSManagedObjectConstraintMergeError = 133_021

/// A merge policy.
///
/// Conflicts that a subclass resolved stay unchanged.
open class NSMergePolicy: NSObject {
  public let mergeType: NSMergePolicyType

  public init(merge type: NSMergePolicyType) { mergeType = type }

  open func resolve(
    optimisticLockingConflicts list: [NSMergeConflict]
  ) throws {
    if mergeType == .errorMergePolicyType { try Self.refuse(list) }
    for conflict in list {
      let object = conflict.sourceObject
      guard let context = object.managedObjectContext,
        object.version == conflict.oldVersionNumber
      else { continue }
      if mergeType == .rollbackMergePolicyType {
        context.refresh(object, mergeChanges: false)
      } else {
        precondition(mergeType == .overwriteMergePolicyType)
        overwrite(object, conflict)
      }
    }
  }

  /// Writes the whole object over its row, or as a new row.
  private func overwrite(_ object: NSManagedObject, _ conflict: NSMergeConflict)
  {
    object.version = conflict.newVersionNumber
    object.isInserted = conflict.newVersionNumber == 0
    object.snapshot =
      (conflict.persistedSnapshot ?? conflict.cachedSnapshot ?? [:])
      .filter { !($0.value is NSNull) }
  }

  /// If objects still share a key, the new one replaces the one in the
  /// database.
  ///
  /// If no object of the database has the key, this throws because no rule
  /// chooses one of the new objects.
  open func resolve(
    constraintConflicts list: [NSConstraintConflict]
  ) throws {
    if mergeType == .errorMergePolicyType { try Self.refuse(list) }
    for conflict in list {
      let live = conflict.conflictingObjects.filter {
        !$0.isDeleted && $0.managedObjectContext != nil
          && isStillTaken(conflict, $0)
      }
      guard let stored = conflict.databaseObject, !stored.isDeleted else {
        if live.count > 1 { try Self.refuse([conflict]) }
        continue
      }
      if !live.isEmpty { stored.managedObjectContext?.delete(stored) }
    }
  }

  private func isStillTaken(
    _ conflict: NSConstraintConflict, _ object: NSManagedObject
  ) -> Bool {
    conflict.constraintValues.allSatisfy {
      isSame(object.values[$0.key], $0.value)
    }
  }

  static func refuse(_ list: [NSMergeConflict]) throws {
    try refuse(list, NSManagedObjectMergeError)
  }

  static func refuse(_ list: [NSConstraintConflict]) throws {
    try refuse(list, NSManagedObjectConstraintMergeError)
  }

  private static func refuse(_ list: [Any], _ code: Int) throws {
    guard !list.isEmpty else { return }
    throw NSError(
      domain: "NSCocoaErrorDomain", code: code,
      userInfo: ["conflictList": list])
  }
}
