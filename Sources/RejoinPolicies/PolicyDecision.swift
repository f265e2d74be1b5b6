// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What a merge policy decides about one record at save.
///
///     let decision = MergePolicy.mergeByPropertyStoreTrump.decide([
///       FieldDifference(field: "name", base: "Al", mine: "Ada", store: "Al"),
///       FieldDifference(field: "phone", base: "1", mine: "2", store: "3"),
///     ])
///     decision.isConflict         // true
///     decision.outcomes["name"]   // .writeConcurrently("Ada")
///     decision.outcomes["phone"]  // .keepStore
///
/// A decision depends only on three values per field. So the same rules serve
/// an ``EditingContext``, Core Data, and clients that merge into a server's
/// plain records.
public struct PolicyDecision: Sendable {
  /// The outcome of each field that is written, dropped or queued, by name.
  ///
  /// A field without an outcome stays as the store has it.
  public var outcomes: [SchemaName: FieldOutcome] = [:]

  /// The outcome of the deletion; `nil` if the context does not delete the
  /// record.
  public var deletion: DeletionOutcome?

  /// Whether the record has changed on both sides.
  public var isConflict = false

  /// Whether the save must throw and write nothing.
  public var isRefused = false

  /// Whether the context's edits of counters, sets, ledgers and quiet registers
  /// are dropped.
  public var dropsMergeableEdits = false
}

extension MergePolicy {
  /// Decides about the registers of one record.
  ///
  /// There is a conflict if any field is dirty and any field is changed. As in
  /// Core Data, these may be different fields.
  ///
  /// - Parameters:
  ///   - fields: Every field that has a value on any side. If the context
  ///     deletes the record, `mine` is the value that it wrote after the
  ///     deletion.
  ///   - isDeletion: Whether the context deletes the record. The record is then
  ///     dirty even if no field is.
  ///   - isInsertion: Whether the context inserts a record that turns out to
  ///     exist in the store.
  ///   - isContested: Whether there is a conflict even if the fields show none:
  ///     the context deletes a record that has changed in any way, or edits one
  ///     that was deleted.
  ///   - storeIsLater: Whether the store's last write of the record is later
  ///     than a write that a save would make now.
  /// - Returns: The decision, which nothing has carried out yet.
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
