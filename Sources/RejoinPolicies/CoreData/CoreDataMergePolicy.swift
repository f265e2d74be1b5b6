// SPDX-License-Identifier: Apache-2.0

#if canImport(CoreData)
  import CoreData
  import Foundation
  import Rejoin
  #if CORE_DATA_STAND_IN
    import RejoinPolicies
  #endif

  /// Core Data's conflicts, resolved by the rules of a ``MergePolicy``.
  ///
  ///     context.mergePolicy = CoreDataMergePolicy(.mergeByPropertyStoreTrump)
  ///
  /// The rules are those of an ``EditingContext``, for attributes and to-one
  /// relationships; edits of to-many relationships are edits of sets, which never
  /// conflict. What Core Data does not have makes three differences:
  ///
  /// - Its store keeps no siblings, so that ``MergePolicy/merge`` writes what I
  ///   changed, and ``MergePolicy/manual`` leaves contested properties as the store
  ///   has them. Both sides are reported.
  /// - It keeps no time of a write, so that under ``MergePolicy/lastWriteWins`` the
  ///   save is the later one.
  /// - Objects under one unique key become one: the one in the database or, of
  ///   several in the context, the first. The others are deleted after their
  ///   properties, those to-many included, have been merged into it. Where an object
  ///   of the database was given the key of another, it takes that one's place, or
  ///   has its own key again.
  ///
  /// Nothing becomes `nil` that nobody set to `nil`. One conflict that is refused
  /// does not keep the others from being resolved.
  public final class CoreDataMergePolicy: NSMergePolicy {
    /// Told of every object in conflict, with its properties as base, mine and
    /// store; a relationship is a reference by the URI of the object's ID.
    public typealias Observer = (NSManagedObject, [FieldDifference]) -> Void

    private let policy: MergePolicy
    private let observer: Observer

    /// Creates a policy for a managed object context.
    ///
    /// - Parameters:
    ///   - policy: The rules.
    ///   - observer: Told of what is in conflict before it is resolved; there is no
    ///     other report of what a policy drops.
    public init(
      _ policy: MergePolicy, observer: @escaping Observer = { _, _ in }
    ) {
      self.policy = policy
      self.observer = observer
      // Objects are given their final values here; what remains is to write them.
      super.init(merge: .overwriteMergePolicyType)
    }

    /// Resolves conflicts between the context and the store.
    ///
    /// - Throws: Core Data's error with the conflicts that the policy refuses.
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

    /// Resolves conflicts between objects with one unique key.
    ///
    /// - Throws: Core Data's error with the conflicts that the policy refuses.
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

    /// Does every step, whatever becomes of the others, and throws the first error.
    private func attemptAll(_ steps: [() throws -> Void]) throws {
      var failure: (any Error)?
      for step in steps {
        do { try step() } catch { failure = failure ?? error }
      }
      if let failure { throw failure }
    }
  }

  // Between the context and the store.
  extension CoreDataMergePolicy {
    /// What is left to do about a conflict.
    private enum Resolution {
      /// The object has its final values, which Core Data writes.
      case write
      /// Nothing of mine is kept: Core Data gives the object the store's state.
      case rollBack
      /// The save must fail.
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
      if decision.dropsEdits || wasDeleted && !isWritten { return .rollBack }
      for property in properties {
        object.setValue(
          property.result(
            decision.outcomes[Name(property.name)], storeWasDeleted: wasDeleted),
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
          .filter { $0.isDirty || $0.isChanged })
    }
  }

  // Between objects with one unique key.
  extension CoreDataMergePolicy {
    /// Merges the objects into one.
    ///
    /// - Returns: Whether the policy lets it.
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
    /// Whether no earlier resolution has taken the object out.
    fileprivate var isLive: Bool { !isDeleted && managedObjectContext != nil }

    /// Gives `survivor` what the policy decides on, and goes.
    ///
    /// What the survivor takes over is taken from this object first: a deletion
    /// that cascades must not reach it.
    fileprivate func merge(
      _ properties: [ComparedProperty], by decision: PolicyDecision,
      into survivor: NSManagedObject
    ) {
      for property in properties {
        let result = property.result(decision.outcomes[Name(property.name)])
        if property.isRelationship, property.isMine(result) {
          setValue(nil, forKey: property.name)
        }
        survivor.setValue(result, forKey: property.name)
      }
      if !decision.dropsEdits { mergeToMany(into: survivor) }
      managedObjectContext?.delete(self)
    }

    /// Unites to-many relationships: the new object has removed nothing.
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

    /// Whether an object of the database that was given the key of another keeps
    /// it; otherwise the object has its own key again, and both stay.
    fileprivate func keepsNewKey(
      of conflict: NSConstraintConflict, by decision: PolicyDecision
    ) -> Bool {
      let isRefused = conflict.constraint.contains {
        switch decision.outcomes[Name($0)] {
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

    /// Gives an object that takes the place of this one what it lacks, and goes.
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
    /// The row as it is in the store; `nil` where it was deleted.
    ///
    /// Against the row cache, a conflict has the cached row only; against the
    /// database, the cached row is the old one.
    fileprivate var storeSnapshot: [String: Any]? {
      newVersionNumber == 0 ? nil : persistedSnapshot ?? cachedSnapshot
    }
  }
#endif
