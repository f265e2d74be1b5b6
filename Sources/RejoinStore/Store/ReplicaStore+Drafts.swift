// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies

extension ReplicaStore {
  /// Saves a draft under a merge policy.
  ///
  ///     var draft = await store.read { $0.draft(of: Item.self, key: "milk") }
  ///     draft.amount = 2
  ///     try await store.commit(draft, under: .merge, undoable: "Edit item")
  ///
  /// If an edit would overflow a counter, the call saves nothing and returns a
  /// report whose `failedRecords` has the record. Commit a draft once: a second
  /// commit would repeat its edits of counters, sets and ledgers. Under
  /// `MergePolicy.manual`, the conflicts are only in the report, because the call
  /// ends the context that queues them. To commit several drafts in one save, use
  /// ``withReplica(_:)``.
  ///
  /// - Parameters:
  ///   - draft: The draft of a record.
  ///   - policy: The rule for a record that changed since the draft was created.
  ///   - name: The name that the Undo menu shows for the save, or `nil`, the
  ///     default, if ``undo()`` must not undo it.
  /// - Returns: The report of the save.
  /// - Throws: `DraftError` or ``StoreError``. If an error is thrown, the store is
  ///   unchanged.
  @discardableResult
  public func commit(
    _ draft: RecordDraft<some Entity>, under policy: MergePolicy = .error,
    undoable name: String? = nil
  ) throws -> ContextReport {
    try withReplica { replica in
      var draft = draft
      return try EditingContext(replica, mergePolicy: policy)
        .commit(&draft, undoable: name)
    }
  }
}
