// SPDX-License-Identifier: Apache-2.0

#if canImport(CoreData)
  import CoreData
  import Foundation
  import Rejoin
  #if CORE_DATA_STAND_IN
    import RejoinPolicies
  #endif

  /// Resolves Core Data's conflicts by the rules of a ``MergePolicy``.
  ///
  ///     context.mergePolicy = CoreDataMergePolicy(.mergeByPropertyStoreTrump)
  ///
  /// The rules apply to attributes and to-one relationships, as in an
  /// ``EditingContext``. Edits of to-many relationships are edits of sets and
  /// never conflict. Core Data differs from a replica in three ways:
  ///
  /// - Core Data's store keeps no siblings. ``MergePolicy/merge`` therefore
  ///   writes the context's changes, and ``MergePolicy/manual`` leaves
  ///   contested properties unchanged in the store. The observer receives both
  ///   sides.
  /// - The store does not record the time of a write. Under
  ///   ``MergePolicy/lastWriteWins``, the save is always the later write.
  /// - Objects with equal unique keys become one object: the one in the
  ///   database or, among several new objects, the first. The properties of the
  ///   others, including to-many relationships, are merged into it, and the
  ///   others are deleted. If an object of the database got the key of another,
  ///   the policy decides whether it replaces that object or gets its own key
  ///   back.
  ///
  /// A property becomes `nil` only if a user set it to `nil`. Resolution
  /// continues after a conflict that the policy refuses.
  public final class CoreDataMergePolicy: NSMergePolicy {
    /// A closure that receives every object in conflict, with the base, mine
    /// and store values of its properties.
    ///
    /// A relationship is represented by a reference whose key is the URI of the
    /// object's ID.
    public typealias Observer = (NSManagedObject, [FieldDifference]) -> Void

    private let policy: MergePolicy
    private let observer: Observer

    /// Creates a policy for a managed object context.
    ///
    /// - Parameters:
    ///   - policy: The rules.
    ///   - observer: A closure that is called before a conflict is resolved.
    ///     Core Data does not report in any other way what a policy drops.
    public init(
      _ policy: MergePolicy, observer: @escaping Observer = { _, _ in }
    ) {
      self.policy = policy
      self.observer = observer
      // This class gives each object its final values. Core Data then writes
      // them, regardless of the values in the store.
      super.init(merge: .overwriteMergePolicyType)
    }

    /// Resolves conflicts between the context and the store.
    ///
    /// - Throws: Core Data's error, with the conflicts that the policy refuses.
    public override func resolve(
      optimisticLockingConflicts conflicts: [NSMergeConflict]
    ) throws {
      var found: [Resolution: [NSMergeConflict]] = [:]
      for conflict in conflicts {
        found[settle(conflict), default: []].append(conflict)
      }
      let (back, rest, refused) = (
        found[.rollBack] ?? [], found[.write] ?? [], found[.refuse] ?? []
      )
      try attemptAll([
        {
          try NSMergePolicy(merge: .rollbackMergePolicyType)
            .resolve(optimisticLockingConflicts: back)
        },
        { try super.resolve(optimisticLockingConflicts: rest) },
        {
          if refused.isEmpty { return }
          try NSMergePolicy(merge: .errorMergePolicyType)
            .resolve(optimisticLockingConflicts: refused)
        },
      ])
    }

    /// Resolves conflicts between objects with equal unique keys.
    ///
    /// - Throws: Core Data's error, with the conflicts that the policy refuses.
    public override func resolve(
      constraintConflicts conflicts: [NSConstraintConflict]
    ) throws {
      var settled: [NSConstraintConflict] = []
      var refused: [NSConstraintConflict] = []
      for conflict in conflicts {
        if settle(conflict) {
          settled.append(conflict)
        } else {
          refused.append(conflict)
        }
      }
      try attemptAll([
        { try super.resolve(constraintConflicts: settled) },
        {
          if refused.isEmpty { return }
          try NSMergePolicy(merge: .errorMergePolicyType)
            .resolve(constraintConflicts: refused)
        },
      ])
    }

    /// Runs every step, even if an earlier one throws, and throws the first
    /// error.
    private func attemptAll(_ steps: [() throws -> Void]) throws {
      var failure: (any Error)?
      for step in steps {
        do { try step() } catch { failure = failure ?? error }
      }
      if let failure { throw failure }
    }
  }

  // Conflicts between the context and the store.
  extension CoreDataMergePolicy {
    /// The action that Core Data takes on a conflict.
    private enum Resolution {
      /// Write the object, which has its final values.
      case write
      /// Give the object the store's state and drop all of its edits.
      case rollBack
      /// Fail the save.
      case refuse
    }

    private func settle(_ conflict: NSMergeConflict) -> Resolution {
      let object = conflict.sourceObject
      let properties = ComparedProperty.all(in: conflict)
      let wasDeleted = conflict.storeSnapshot == nil
      let decision = policy.decide(
        properties.map { $0.difference(storeWasDeleted: wasDeleted) },
        isDeletion: object.isDeleted,
        isContested: object.isDeleted || wasDeleted)
      report(properties, of: object, wasDeleted)
      if decision.isRefused { return .refuse }
      if let deletion = decision.deletion {
        let isCarriedOut = deletion == .delete || deletion == .deleteBeside
        return isCarriedOut ? .write : .rollBack
      }
      let isWritten = decision.outcomes.values.contains {
        switch $0 {
        case .write, .writeConcurrently: true
        case .keepStore, .reportConflict: false
        }
      }
      if decision.dropsMergeableEdits || wasDeleted && !isWritten {
        return .rollBack
      }
      for property in properties {
        object.setValue(
          property.result(
            decision.outcomes[SchemaName(property.name)],
            storeWasDeleted: wasDeleted),
          forKey: property.name)
      }
      return .write
    }

    private func report(
      _ properties: [ComparedProperty], of object: NSManagedObject,
      _ wasDeleted: Bool = false
    ) {
      observer(
        object,
        properties.map { $0.difference(storeWasDeleted: wasDeleted) }
          .filter { $0.isChangedInContext || $0.isChangedInStore })
    }
  }

  // Conflicts between objects with equal unique keys.
  extension CoreDataMergePolicy {
    /// Merges the objects into one.
    ///
    /// - Returns: `false` if the policy refuses the conflict.
    private func settle(_ conflict: NSConstraintConflict) -> Bool {
      let objects = conflict.conflictingObjects.filter(\.isLive)
      let stored = conflict.databaseObject.flatMap { $0.isLive ? $0 : nil }
      guard
        var survivor = stored ?? objects.first(where: { !$0.isInserted })
          ?? objects.first
      else { return true }
      for object in objects where object !== survivor {
        let properties = ComparedProperty.all(of: object, into: survivor)
        let decision = policy.decide(
          properties.map { $0.difference() }, isInsertion: object.isInserted,
          isContested: true)
        report(properties, of: object)
        if decision.isRefused { return false }
        if object.isInserted {
          object.merge(properties, by: decision, into: survivor)
        } else if object.keepsNewKey(of: conflict, by: decision) {
          survivor.fillGaps(of: object)
          survivor = object
        }
      }
      return true
    }
  }

  extension NSManagedObject {
    /// Whether the object is still in its context.
    ///
    /// An earlier resolution may delete the object.
    fileprivate var isLive: Bool { !isDeleted && managedObjectContext != nil }

    /// Gives `survivor` the properties that the policy chooses, and deletes
    /// this object.
    ///
    /// A relationship that the survivor takes over is first set to `nil` here.
    /// Otherwise a cascading deletion would reach its destination.
    fileprivate func merge(
      _ properties: [ComparedProperty], by decision: PolicyDecision,
      into survivor: NSManagedObject
    ) {
      for property in properties {
        let result = property.result(
          decision.outcomes[SchemaName(property.name)])
        if property.isRelationship, property.isMine(result) {
          setValue(nil, forKey: property.name)
        }
        survivor.setValue(result, forKey: property.name)
      }
      if !decision.dropsMergeableEdits { mergeToMany(into: survivor) }
      managedObjectContext?.delete(self)
    }

    /// Unites the to-many relationships, since a new object has no removals.
    private func mergeToMany(into survivor: NSManagedObject) {
      for (name, relationship) in entity.relationshipsByName
      where relationship.isToMany {
        let mine = value(forKey: name)
        let theirs = survivor.value(forKey: name)
        if relationship.isOrdered {
          let all = NSMutableOrderedSet()
          for case let objects as NSOrderedSet in [theirs, mine] {
            all.addObjects(from: objects.array)
          }
          setValue(NSOrderedSet(), forKey: name)
          survivor.setValue(all, forKey: name)
        } else {
          let objects = mine as? Set<NSManagedObject> ?? []
          let all = theirs as? Set<NSManagedObject> ?? []
          setValue(Set<NSManagedObject>(), forKey: name)
          survivor.setValue(all.union(objects), forKey: name)
        }
      }
    }

    /// Returns whether an object of the database keeps the key of another
    /// object.
    ///
    /// If the result is `false`, the object gets its own key back, and both
    /// objects stay.
    fileprivate func keepsNewKey(
      of conflict: NSConstraintConflict, by decision: PolicyDecision
    ) -> Bool {
      let isRefused = conflict.constraint.contains {
        switch decision.outcomes[SchemaName($0)] {
        case .keepStore, .reportConflict: true
        case .write, .writeConcurrently, nil: false
        }
      }
      guard isRefused else { return true }
      for (name, key) in committedValues(forKeys: conflict.constraint) {
        setValue(key is NSNull ? nil : key, forKey: name)
      }
      return false
    }

    /// Gives `object` the properties that it lacks, and deletes this object,
    /// which `object` replaces.
    fileprivate func fillGaps(of object: NSManagedObject) {
      let properties = ComparedProperty.all(of: self, into: object)
      let gaps = MergePolicy.custom {
        $0.store == nil ? .write($0.mine) : .keepStore
      }
      let decision = gaps.decide(
        properties.map { $0.difference() }, isContested: true)
      merge(properties, by: decision, into: object)
    }
  }

  extension NSMergeConflict {
    /// The row in the store, or `nil` if it was deleted.
    ///
    /// A conflict with the row cache has only the cached snapshot. In a
    /// conflict with the database, the cached snapshot is outdated, so the
    /// persisted one counts.
    fileprivate var storeSnapshot: [String: Any]? {
      newVersionNumber == 0 ? nil : persistedSnapshot ?? cachedSnapshot
    }
  }
#endif
