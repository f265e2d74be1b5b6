// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What a policy makes of one record at save.
///
/// The decision is a pure function of three values per field, so that the same
/// rules serve an ``EditingContext``, Core Data, and a comparison with clients
/// that merge into a server's plain records.
public struct PolicyDecision: Sendable {
  /// What becomes of each field that is written, dropped or queued.
  ///
  /// Fields that are missing stay as the store has them.
  public var outcomes: [Name: FieldOutcome] = [:]

  /// What becomes of the deletion, where the context deletes the record.
  public var deletion: DeletionOutcome?

  /// Whether somebody else changed the record that I changed too.
  public var isConflict = false

  /// Whether nothing may be written and the save must throw.
  public var isRefused = false

  /// Whether edits of counters, sets and ledgers are dropped too.
  public var dropsEdits = false
}

extension MergePolicy {
  /// Decides what becomes of the register and `lww` fields of one record.
  ///
  /// There is a conflict if some field is dirty and some field is changed, as in
  /// Core Data: per object, so that disjoint edits conflict too.
  ///
  /// - Parameters:
  ///   - fields: Every field that has a value with any party. Of a record that
  ///     the context deletes, `mine` is what it wrote after that.
  ///   - isDeletion: Whether the context deletes the record, which is dirty
  ///     whatever the fields say.
  ///   - isInsertion: Whether the context inserts a record that the store turns
  ///     out to have.
  ///   - isContested: Whether there is a conflict whatever the fields say: a
  ///     deletion where anything at all has moved since, or an edit of what was
  ///     deleted since.
  ///   - storeIsLater: Whether the store's last write of the record is later than
  ///     this save would be.
  public func decide(
    _ fields: [FieldDifference], isDeletion: Bool = false,
    isInsertion: Bool = false, isContested: Bool = false,
    storeIsLater: Bool = false
  ) -> PolicyDecision {
    var decision = PolicyDecision()
    let isDirty = isDeletion || fields.contains(where: \.isDirty)
    decision.isConflict =
      isContested || isDirty && fields.contains(where: \.isChanged)
    if isDeletion {
      let outcome =
        decision.isConflict
        ? deletion(storeIsLater: storeIsLater) : .deleteBeside
      decision.deletion = outcome
      decision.dropsEdits = outcome.isRefused
      for field in fields where field.mine != nil {
        decision.outcomes[Name(field.field)] =
          outcome.outcome(ofWriting: field.mine)
      }
    } else if decision.isConflict {
      decideConflict(fields, isInsertion, &decision)
    } else {
      for field in fields where field.isDirty {
        decision.outcomes[Name(field.field)] = .writeConcurrently(field.mine)
      }
    }
    if case .error = self, decision.isConflict {
      decision.isRefused = true
      decision.outcomes = [:]
    }
    return decision
  }

  private func decideConflict(
    _ fields: [FieldDifference], _ isInsertion: Bool,
    _ decision: inout PolicyDecision
  ) {
    switch self {
    case .rollback, .serverWins:
      decision.dropsEdits = true
    default: break
    }
    for field in fields {
      decision.outcomes[Name(field.field)] =
        outcome(of: field, isInsertion: isInsertion)
    }
  }

  private func outcome(
    of field: FieldDifference, isInsertion: Bool
  ) -> FieldOutcome? {
    let (mine, isDirty) = (field.mine, field.isDirty)
    let isContested = isDirty && field.isChanged
    switch self {
    case .error:
      return nil
    case .rollback, .serverWins:
      return isDirty ? .keepStore : nil
    case .mergeByPropertyStoreTrump:
      guard isDirty else { return nil }
      return isContested ? .keepStore : .writeConcurrently(mine)
    case .mergeNonNil where isInsertion && (mine ?? .null) == .null:
      return isDirty ? .keepStore : nil
    case .mergeByPropertyObjectTrump:
      return isDirty ? .write(mine) : nil
    case .overwrite:
      return mine != field.store ? .write(mine) : nil
    case .lastWriteWins where isContested:
      return field.storeIsLater ? .keepStore : .write(mine)
    case .merge, .mergeNonNil, .lastWriteWins:
      return isDirty ? .writeConcurrently(mine) : nil
    case .manual:
      guard isDirty else { return nil }
      return isContested ? .reportConflict : .writeConcurrently(mine)
    case .custom(let rule):
      return isDirty || field.isChanged ? rule(field) : nil
    }
  }
}
