//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin

extension SavePlan {
  /// What the policy does not keep.
  var dropped: [DroppedChange] {
    if record.isDeleted {
      guard deletion.isKept else { return [drop(nil, .deletion)] }
      return deletion.supersedesAll ? overwritten(now.fields.keys) : []
    }
    var dropped: [DroppedChange] = []
    for (key, difference) in differences.sorted(by: { $0.key < $1.key }) {
      dropped += self.dropped(key, difference)
    }
    dropped += overwritten(
      editsToApply.filter { $0.value.supersedesAll }.keys)
    if decision.dropsEdits {
      for (key, edit) in record.edits.sorted(by: { $0.key < $1.key }) {
        dropped.append(drop(key, .edit(edit)))
      }
    }
    return dropped
  }

  /// Those of the fields that somebody changed since they were fetched.
  private func overwritten(
    _ keys: some Sequence<FieldKey>
  ) -> [DroppedChange] {
    guard decision.isConflict, now.exists else { return [] }
    return keys.sorted()
      .filter { !now[$0].shows(sameAs: record.fetched[$0]) }
      .map { drop($0, .overwritten(now[$0])) }
  }

  private func dropped(
    _ key: FieldKey, _ difference: FieldDifference
  ) -> [DroppedChange] {
    func mine(_ value: Value?) -> DroppedChange.Side {
      .init(value: value, device: device, time: nil)
    }
    let store = now.exists ? now[key].write : nil
    switch decision.outcomes[Name(key.name)] {
    case .keepStore:
      guard difference.isDirty, difference.mine != difference.store else {
        return []
      }
      return [
        drop(
          key,
          .value(dropped: mine(difference.mine), kept: .init(store)))
      ]
    case .write(let value):
      let seen = record.fetched[key].clock
      let losers = now[key].writes.filter { write in
        write.payload.value != value
          && (!seen.contains(write.dot)
            || write == store
              && difference.isChanged)
      }
      return losers.map { loser in
        drop(key, .value(dropped: .init(loser), kept: mine(value)))
      }
    case .writeBeside(let value):
      // An `lww` field keeps no sibling.
      guard key.kind == .lww, difference.isChanged, let store,
        store.payload.value != value
      else { return [] }
      return [drop(key, .value(dropped: .init(store), kept: mine(value)))]
    case .queue, nil:
      return []
    }
  }

  /// A write that had to go because nothing can be stamped above it.
  func dropped(_ write: SaveReport.Superseded) -> DroppedChange? {
    guard
      case .writeBeside(let value) =
        decision.outcomes[Name(write.field.name)]
    else { return nil }
    return drop(
      write.field,
      .value(
        dropped: .init(write.write),
        kept: .init(value: value, device: device, time: nil)))
  }

  private func drop(
    _ key: FieldKey?, _ content: DroppedChange.Content
  ) -> DroppedChange {
    DroppedChange(
      record: record.id, field: key, content: content, rule: policy.name)
  }
}
