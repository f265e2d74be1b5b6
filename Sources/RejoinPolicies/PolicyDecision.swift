// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The decision of a merge policy on one record.
///
///     let decision = MergePolicy.mergeByPropertyStoreTrump.decide([
///       FieldDifference(field: "name", base: "Al", mine: "Ada", store: "Al"),
///       FieldDifference(field: "phone", base: "1", mine: "2", store: "3"),
///     ])
///     decision.isConflict         // true
///     decision.outcomes["name"]   // .writeConcurrently("Ada")
///     decision.outcomes["phone"]  // .keepStore
///
/// A decision depends only on three values per field, so the same rules apply
/// to an ``EditingContext``, to Core Data, and to clients that merge into a
/// server's plain records.
public struct PolicyDecision: Sendable {
  /// The outcome of each field that is written, dropped or queued, by name.
  ///
  /// A field without an outcome keeps the store's value.
  public var outcomes: [SchemaName: FieldOutcome] = [:]

  /// The outcome of the deletion, or `nil` if the context does not delete the
  /// record.
  public var deletion: DeletionOutcome?

  /// Whether both sides changed the record.
  public var isConflict = false

  /// Whether the save must throw and write nothing.
  public var isRefused = false

  /// Whether the context's edits of counters, sets, ledgers and quiet registers
  /// are dropped.
  public var dropsMergeableEdits = false
}

extension MergePolicy {
  /// Decides on the registers of one record.
  ///
  /// The record is in conflict if the context changed any field and the store
  /// changed any field. As in Core Data, these may be different fields.
  ///
  /// - Parameters:
  ///   - fields: Every field that has a value on any side. If the context
  ///     deletes the record, `mine` is the value that it wrote after the
  ///     deletion.
  ///   - isDeletion: Whether the context deletes the record. The record then
  ///     counts as changed even if no field is.
  ///   - isInsertion: Whether the context inserts a record that turns out to
  ///     exist in the store.
  ///   - isContested: Whether the record is in conflict even if the fields show
  ///     no conflict. This is the case if the context deletes a record that
  ///     changed in any way, or edits a record that was deleted.
  ///   - storeIsLater: Whether the store's last write of the record is later
  ///     than a write that a save would make now.
  /// - Returns: The decision, which you must apply yourself.
  public func decide(
    _ fields: [FieldDifference], isDeletion: Bool = false,
    isInsertion: Bool = false, isContested: Bool = false,
    storeIsLater: Bool = false
  ) -> PolicyDecision {
    var decision = PolicyDecision()
    let isChangedInContext =
      isDeletion || fields.contains(where: \.isChangedInContext)
    decision.isConflict =
      isContested
      || isChangedInContext && fields.contains(where: \.isChangedInStore)
    if isDeletion {
      let outcome =
        decision.isConflict
        ? deletion(storeIsLater: storeIsLater) : .deleteBeside
      decision.deletion = outcome
      decision.dropsMergeableEdits = outcome.isRefused
      for field in fields where field.mine != nil {
        decision.outcomes[SchemaName(field.field)] =
          outcome.outcome(ofWriting: field.mine)
      }
    } else if decision.isConflict {
      decideConflict(fields, isInsertion, &decision)
    } else {
      for field in fields where field.isChangedInContext {
        decision.outcomes[SchemaName(field.field)] = .writeConcurrently(
          field.mine)
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
      decision.dropsMergeableEdits = true
    default: break
    }
    for field in fields {
      decision.outcomes[SchemaName(field.field)] =
        outcome(of: field, isInsertion: isInsertion)
    }
  }

  private func outcome(
    of field: FieldDifference, isInsertion: Bool
  ) -> FieldOutcome? {
    let (mine, isChangedInContext) = (field.mine, field.isChangedInContext)
    let isContested = isChangedInContext && field.isChangedInStore
    switch self {
    case .error:
      return nil
    case .rollback, .serverWins:
      return isChangedInContext ? .keepStore : nil
    case .mergeByPropertyStoreTrump:
      guard isChangedInContext else { return nil }
      return isContested ? .keepStore : .writeConcurrently(mine)
    case .mergeNonNil where isInsertion && (mine ?? .null) == .null:
      return isChangedInContext ? .keepStore : nil
    case .mergeByPropertyObjectTrump:
      return isChangedInContext ? .write(mine) : nil
    case .overwrite:
      return mine != field.store ? .write(mine) : nil
    case .lastWriteWins where isContested:
      return field.storeIsLater ? .keepStore : .write(mine)
    case .merge, .mergeNonNil, .lastWriteWins:
      return isChangedInContext ? .writeConcurrently(mine) : nil
    case .manual:
      guard isChangedInContext else { return nil }
      return isContested ? .reportConflict : .writeConcurrently(mine)
    case .custom(let rule):
      return isChangedInContext || field.isChangedInStore ? rule(field) : nil
    }
  }
}
