// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension SavePlan {
  /// The changes that the policy does not keep: first those of the whole
  /// record, then single fields, then edits.
  var dropped: [DroppedChange] {
    var dropped = droppedAsAWhole
    for (key, difference) in differences.sorted(by: { $0.key < $1.key }) {
      dropped += self.dropped(key, difference)
    }
    if decision.dropsMergeableEdits {
      dropped +=
        values(
          record.quietWrites.filter {
            $1 != shown($0) || record.changes.gaps[$0] != nil
          }
          .merging(record.changes.resolved) { $1 })
        + edits(of: record.changes)
    }
    return dropped
  }

  /// The changes that a deletion or its refusal drops, or else the overwritten
  /// counters and sets.
  private var droppedAsAWhole: [DroppedChange] {
    switch decision.deletion {
    case .keepRecord: [drop(nil, .deletion)] + takenAlong
    case .reportConflict: takenAlong
    case .delete:
      overwritten(Set(now.fields).subtracting(record.quiet)) + overwrittenMarks
    case .deleteBeside: []
    case nil: overwritten(editsToApply.filter { $0.value.supersedesAll }.keys)
    }
  }

  /// Reports the fields that saves touched after the context showed them.
  ///
  /// The clocks decide, not the shown values: an unseen write may lose to the
  /// shown one, or unseen increments may cancel each other. If the save writes
  /// a field, each superseded write is reported instead.
  private func overwritten(
    _ keys: some Sequence<FieldKey>
  ) -> [DroppedChange] {
    guard decision.isConflict else { return [] }
    let written = written
    let isBroughtBack = record.isCreatedAgain || revives && !record.isDeleted
    return keys.sorted()
      .filter { !written.contains(SchemaName($0.name)) }
      .filter { now[$0].clock != record.seen($0).clock }
      .filter { now.exists || isBroughtBack && now[$0].hasContent }
      .map { drop($0, .overwritten(now[$0])) }
  }

  /// The unseen marks that keep the record alive without an edit.
  private var overwrittenMarks: [DroppedChange] {
    let seen = record.fetched[.existence].clock
    let isUnseen = now[.existence].marks.contains {
      $0.kind == .alive && !seen.contains($0.dot)
    }
    guard decision.isConflict, now.exists, isUnseen else { return [] }
    return [drop(.existence, .overwritten(now[.existence]))]
  }

  /// The edits that the context made before a refused deletion.
  private var takenAlong: [DroppedChange] {
    let undone = record.undone ?? []
    var values: [FieldKey: Value?] = [:]
    for changes in undone { values.merge(changes.written) { $1 } }
    let moved = Set(undone.flatMap(\.gaps.keys))
    let lost = values.filter { key, value in
      record.changes.values[key] == nil && record.changes.gaps[key] == nil
        && (value != record.base(key) && value != shown(key)
          || moved.contains(key))
    }
    return self.values(lost) + undone.flatMap(edits)
  }

  /// Returns the values that the context wrote to registers, as dropped
  /// changes.
  private func values(_ lost: [FieldKey: Value?]) -> [DroppedChange] {
    lost.sorted { $0.key < $1.key }.map { key, value in
      drop(key, .value(dropped: mine(value), kept: .init(store(key))))
    }
  }

  /// Returns the edits of counters, sets and ledgers, and a `touch`, as dropped
  /// changes.
  private func edits(of changes: EditedRecord.Changes) -> [DroppedChange] {
    changes.edits.sorted { $0.key < $1.key }.map { drop($0, .edit($1)) }
      + (changes.isTouched ? [drop(nil, .creation)] : [])
  }

  private func dropped(
    _ key: FieldKey, _ difference: FieldDifference
  ) -> [DroppedChange] {
    let store = store(key)
    switch decision.outcomes[SchemaName(key.name)] {
    case .keepStore:
      // A save that brings the record back also brings its values back.
      let theirs = revives && writes ? now[key].value : difference.store
      guard difference.isChangedInContext || record.isDeleted,
        difference.mine != theirs
      else { return [] }
      return [
        drop(
          key,
          .value(dropped: mine(difference.mine), kept: .init(store)))
      ]
    case .write(let value):
      let seen = record.seen(key).clock
      // Superseding a value that the context showed is intended, unless that
      // value became the visible one only later.
      let losers = now[key].writes.filter { write in
        write.value != value
          && (!seen.contains(write.dot)
            || write == store
              && difference.isChangedInStore)
      }
      return losers.map { loser in
        drop(key, .value(dropped: .init(loser), kept: mine(value)))
      }
    case .writeConcurrently, .reportConflict, nil:
      return []
    }
  }

  private func mine(_ value: Value?) -> DroppedChange.Side {
    .init(value: value, device: device, time: nil)
  }

  private func store(_ key: FieldKey) -> RegisterWrite? {
    now.exists ? now[key].write : nil
  }

  /// Reports a sibling that the save superseded although it had not seen it.
  func dropped(_ write: SaveReport.SupersededWrite) -> DroppedChange? {
    let value: Value?
    if let choice = resolved[write.field] {
      value = choice
    } else if case .writeConcurrently(let written) =
      decision.outcomes[SchemaName(write.field.name)]
    {
      value = written
    } else {
      return nil
    }
    return DroppedChange(write, by: value, of: device, rule: policy.name)
  }

  private func drop(
    _ key: FieldKey?, _ content: DroppedChange.Content
  ) -> DroppedChange {
    DroppedChange(
      record: record.id, field: key, content: content, rule: policy.name)
  }
}
