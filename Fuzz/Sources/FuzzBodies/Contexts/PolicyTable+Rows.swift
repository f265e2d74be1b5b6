// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import _RejoinVerification

/// The required actions of a save.
struct PolicyRow {
  /// The values to write, by field.
  var written: [FieldKey: Value?] = [:]
  /// The values to report as dropped.
  var dropped: Set<Dropped> = []
  /// The registers whose values are not written.
  var refused: Set<FieldKey> = []
  /// The fields to queue.
  var queued: Set<FieldKey> = []
  /// Whether to drop edits of counters, sets and ledgers.
  var dropsMergeableEdits = false
  /// The fields whose unseen siblings are superseded.
  var supersedes: Set<FieldKey> = []

  struct Dropped: Hashable {
    let field: FieldKey
    let value: Value?
  }
}

extension PolicyTable {
  /// The record in the replica at save.
  struct Store {
    let record: Record
    let wasDeleted: Bool
    let isInsertion: Bool
    /// The timestamp that the context's save will have.
    let next: Timestamp

    init(_ replica: Replica, since fetched: Record) throws {
      let now = replica.fetched(PolicyTable.card)
      let other = replica.fork(as: DeviceID(99))
      try other.save { $0.ensureExists(RecordID("Card", "time")) }
      next = other.version[DeviceID(99)].time
      record = now
      wasDeleted = fetched.exists && !now.exists
      isInsertion = !fetched.exists && now.exists
    }

    func value(_ key: FieldKey) -> Value? {
      record.exists ? record[key].value : nil
    }

    /// Returns whether a record that the save brings back would show another
    /// value.
    func brings(_ key: FieldKey, backAgainst mine: Value?) -> Bool {
      wasDeleted && record[key].value != mine
    }

    /// Returns whether the store's last write is later than the context's save.
    func isLater(_ key: FieldKey?) -> Bool {
      let shown = record.exists ? record.fields : []
      var times =
        (key.map { [$0] } ?? []).filter(shown.contains)
        .compactMap { record[$0].write }
        .map { ($0.time, $0.dot.device) }
      if times.isEmpty {
        times =
          shown.compactMap { record[$0].write }
          .map { ($0.time, $0.dot.device) }
          + record[.existence].marks.map { ($0.time, $0.dot.device) }
      }
      return times.contains {
        $0 > next || $0 == next && $1 > DeviceID(1)
      }
    }
  }

  func isChanged(_ key: FieldKey, _ store: Store) -> Bool {
    store.wasDeleted || store.value(key) != baseValue(key)
  }

  /// The registers that may be in conflict and have a state on any side.
  func known(_ store: Store) -> [FieldKey] {
    keys.filter {
      !quiet.contains($0) && resolved[$0] == nil
        && (isTouched($0) || store.record.fields.contains($0)
          || mine[$0] != nil)
    }
  }

  func isConflict(_ store: Store) -> Bool {
    if isDeletion {
      return store.record[.existence].clock != seen(.existence).clock
        || (keys + PolicyTable.extras).contains {
          !quiet.contains($0) && store.record[$0].clock != seen($0).clock
        }
    }
    let editsQuietly = keys.contains {
      quiet.contains($0) && isChangedInContext($0)
    }
    return store.wasDeleted
      && (!edits.isEmpty || editsQuietly || !resolved.isEmpty)
      || keys.contains { !quiet.contains($0) && isChangedInContext($0) }
        && known(store).contains { isChanged($0, store) }
  }

  /// Returns the action on the deletion if the policy does not refuse the save.
  func deletion(_ store: Store) -> DeletionOutcome {
    guard isConflict(store) else { return .deleteBeside }
    return switch policy {
    case .mergeByPropertyObjectTrump, .overwrite, .mergeNonNil: .delete
    case .lastWriteWins: store.isLater(nil) ? .keepRecord : .delete
    case .merge: .deleteBeside
    case .manual: .reportConflict
    default: .keepRecord
    }
  }

  /// Returns the row of the policy, or `nil` if it refuses the save.
  func row(_ store: Store) -> PolicyRow? {
    var row = PolicyRow()
    if isDeletion {
      if case .error = policy, isConflict(store) { return nil }
      return row
    }
    if isConflict(store) {
      if case .error = policy { return nil }
      for key in known(store) { add(key, store, to: &row) }
      switch policy {
      case .rollback, .serverWins: row.dropsMergeableEdits = true
      default: break
      }
    } else {
      for key in keys where isChangedInContext(key) {
        row.written[key] = myValue(key)
      }
    }
    for (key, value) in resolved {
      if !row.dropsMergeableEdits {
        row.written[key] = value
        if quiet.contains(key) { row.supersedes.insert(key) }
      } else {
        row.dropped.insert(.init(field: key, value: value))
      }
    }
    for key in keys where quiet.contains(key) && resolved[key] == nil {
      let isSet: Bool =
        if case .overwrite = policy {
          isConflict(store)
            && (myValue(key) != store.value(key)
              || store.brings(key, backAgainst: myValue(key)))
        } else { false }
      guard isChangedInContext(key) || isSet else { continue }
      if !row.dropsMergeableEdits {
        row.written[key] = myValue(key)
        row.supersedes.insert(key)
      } else if myValue(key) != store.value(key) {
        row.dropped.insert(.init(field: key, value: myValue(key)))
      }
    }
    let isWritten =
      !row.written.isEmpty || !edits.isEmpty && !row.dropsMergeableEdits
    for key in row.refused {
      // A save that writes brings a deleted record back with its values.
      let theirs =
        isWritten && store.wasDeleted
        ? store.record[key].value : store.value(key)
      if myValue(key) != theirs {
        row.dropped.insert(.init(field: key, value: myValue(key)))
      }
    }
    return row
  }

  private func add(_ key: FieldKey, _ store: Store, to row: inout PolicyRow) {
    let (mine, theirs) = (myValue(key), store.value(key))
    let (dirty, changed) = (isChangedInContext(key), isChanged(key, store))
    func dropMine() { if dirty { row.refused.insert(key) } }
    switch policy {
    case .error: break
    case .mergeByPropertyStoreTrump:
      if dirty, !changed { row.written[key] = mine } else { dropMine() }
    case .mergeByPropertyObjectTrump:
      if dirty { write(mine, to: key, store, &row) }
    case .overwrite:
      if mine != theirs || store.brings(key, backAgainst: mine) {
        write(mine, to: key, store, &row)
      }
    case .rollback, .serverWins: dropMine()
    case .mergeNonNil where store.isInsertion && (mine ?? .null) == .null:
      dropMine()
    case .lastWriteWins where dirty && changed:
      if store.isLater(key) {
        dropMine()
      } else {
        write(mine, to: key, store, &row)
      }
    case .merge, .mergeNonNil, .lastWriteWins:
      if dirty { row.written[key] = mine }
    case .manual:
      if dirty, changed {
        row.queued.insert(key)
      } else if dirty {
        row.written[key] = mine
      }
    case .custom(let rule):
      guard dirty || changed else { return }
      let field = FieldDifference(
        field: key.name, base: baseValue(key), mine: mine, store: theirs,
        storeWasDeleted: store.wasDeleted)
      switch rule(field) {
      case .keepStore: dropMine()
      case .write(let value): write(value, to: key, store, &row)
      case .writeConcurrently(let value): row.written[key] = .some(value)
      case .reportConflict: row.queued.insert(key)
      }
    }
  }

  /// Writes a value that supersedes every sibling.
  private func write(
    _ value: Value?, to key: FieldKey, _ store: Store, _ row: inout PolicyRow
  ) {
    row.written[key] = .some(value)
    row.supersedes.insert(key)
    let now = store.record[key]
    for write in now.writes where write.value != value {
      let isUnseen = !seen(key).clock.contains(write.dot)
      let isStore = store.record.exists && write == now.write
      if isUnseen || isStore && isChanged(key, store) {
        row.dropped.insert(.init(field: key, value: write.value))
      }
    }
  }
}
