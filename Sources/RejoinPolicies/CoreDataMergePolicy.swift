//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#if canImport(CoreData)
  import CoreData
  import Foundation
  import Rejoin

  /// Core Data's conflicts, resolved by the rules of a ``MergePolicy``.
  ///
  ///     context.mergePolicy = CoreDataMergePolicy(.mergeByPropertyStoreTrump)
  ///
  /// The rules are those of an ``EditingContext``; Core Data's store keeps no
  /// siblings, so that ``MergePolicy/merge`` writes what I changed, and
  /// ``MergePolicy/manual`` leaves contested properties as the store has them.
  /// With several conflicts in one save, one that cannot be resolved does not keep
  /// the others from being resolved.
  public final class CoreDataMergePolicy: NSMergePolicy {
    private let policy: MergePolicy

    /// Creates a policy for a managed object context.
    public init(_ policy: MergePolicy) {
      self.policy = policy
      super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    }

    /// Resolves conflicts between the context and the store.
    public override func resolve(
      optimisticLockingConflicts conflicts: [NSMergeConflict]
    ) throws {
      var refused: [NSMergeConflict] = []
      var resolved: [NSMergeConflict] = []
      for conflict in conflicts {
        let object = conflict.sourceObject
        let isResolved = settle(
          object, base: conflict.objectSnapshot,
          store: conflict.persistedSnapshot ?? conflict.cachedSnapshot,
          isInsertion: false)
        if isResolved {
          resolved.append(conflict)
        } else {
          refused.append(conflict)
        }
      }
      try super.resolve(optimisticLockingConflicts: resolved)
      if !refused.isEmpty {
        try NSMergePolicy(merge: .errorMergePolicyType)
          .resolve(optimisticLockingConflicts: refused)
      }
    }

    /// Resolves conflicts between an inserted object and one with its unique key.
    public override func resolve(
      constraintConflicts conflicts: [NSConstraintConflict]
    ) throws {
      var refused: [NSConstraintConflict] = []
      var resolved: [NSConstraintConflict] = []
      for conflict in conflicts {
        let store = conflict.databaseSnapshot
        let isResolved = conflict.conflictingObjects.allSatisfy { object in
          settle(object, base: nil, store: store, isInsertion: true)
        }
        if isResolved {
          resolved.append(conflict)
        } else {
          refused.append(conflict)
        }
      }
      try super.resolve(constraintConflicts: resolved)
      if !refused.isEmpty {
        try NSMergePolicy(merge: .errorMergePolicyType)
          .resolve(constraintConflicts: refused)
      }
    }

    /// Gives an object the values that the policy decides on.
    ///
    /// - Returns: Whether the policy can resolve the conflict.
    private func settle(
      _ object: NSManagedObject, base: [String: Any]?, store: [String: Any]?,
      isInsertion: Bool
    ) -> Bool {
      let names = Array(object.entity.attributesByName.keys)
      let fields = names.map { name in
        FieldDifference(
          field: name, base: Self.value(base?[name]),
          mine: Self.value(object.value(forKey: name)),
          store: Self.value(store?[name]), storeWasDeleted: store == nil)
      }
      let decision = policy.decide(
        fields, isDeletion: object.isDeleted, isInsertion: isInsertion)
      if decision.isRefused { return false }
      for field in fields {
        switch decision.outcomes[Name(field.field)] {
        case .write, .writeBeside: break
        case .keepStore, .queue, nil:
          object.setValue(Self.object(store?[field.field]), forKey: field.field)
        }
      }
      return true
    }

    private static func object(_ value: Any?) -> Any? {
      value is NSNull ? nil : value
    }

    /// The value of an attribute; one of a type that fields do not have is told
    /// apart by its description.
    private static func value(_ value: Any?) -> Value? {
      switch object(value) {
      case nil: nil
      case let text as String: .string(text)
      case let data as Data: .bytes(Array(data))
      case let date as Date:
        .date(Int64(clamping: Int128(date.timeIntervalSince1970 * 1e6)))
      case let number as NSNumber:
        CFNumberIsFloatType(number)
          ? .double(number.doubleValue) : .int(number.int64Value)
      case let other?: .string(String(describing: other))
      }
    }
  }
#endif
