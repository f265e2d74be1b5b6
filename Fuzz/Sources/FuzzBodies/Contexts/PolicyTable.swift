// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies

/// The table of merge policies, restated over what is read of a record: what is
/// written, what it reads afterwards, and what is dropped.
struct PolicyTable {
  static let card = RecordID("Card", "a")
  /// The fields that are edited and never conflict.
  static let extras = [
    FieldKey("c", .counter), FieldKey("s", .set), FieldKey("l", .ledger),
  ]

  let policy: MergePolicy
  let keys: [FieldKey]
  /// What the context shows, where it differs from `base`.
  var mine: [FieldKey: Value?] = [:]
  /// The counters, sets and ledgers that the context edits.
  var edits: Set<FieldKey> = []
  /// Whether the context deletes the record; its other edits come after that.
  private(set) var isDeletion = false
  /// What the context had set and edited before it deleted the record.
  private(set) var undone: (values: [FieldKey: Value?], edits: [FieldKey]) = (
    [:], []
  )
  /// Whether the record was there when it was fetched, or at a refresh.
  private var wasShown: Bool
  /// The record when it was fetched.
  private(set) var fetched: RecordSnapshot
  /// The fields when they were fetched, or refreshed.
  private(set) var base: [FieldKey: FieldState] = [:]

  init(_ policy: MergePolicy, _ store: Replica, _ keys: [FieldKey]) {
    (self.policy, self.keys) = (policy, keys)
    fetched = store.fetch(PolicyTable.card)
    wasShown = fetched.exists
    if fetched.exists { base = fetched.fields }
  }

  /// Whether the context creates again what it has deleted.
  var isCreatedAgain: Bool {
    isDeletion && !(mine.isEmpty && edits.isEmpty)
  }

  /// What was not there is only no longer inserted.
  mutating func delete() {
    if wasShown {
      isDeletion = true
      undone.values.merge(mine) { $1 }
      undone.edits += edits
    }
    (mine, edits) = ([:], [])
  }

  /// An edit of a field that never conflicts.
  static func edit(_ key: FieldKey, by amount: Int64) -> FieldEdit {
    switch key.kind {
    case .counter: return .count(CounterEdit(by: amount))
    case .set: return .members(SetEdit(inserting: [.int(amount)]))
    default:
      var edit = LedgerEdit()
      edit.append(amount, memo: nil)
      return .append(edit)
    }
  }

  /// What a custom policy answers.
  static func rule(_ field: FieldDifference, shift: Int) -> FieldOutcome {
    let figure = Int(field.field.utf8.last ?? 0)
    return switch (figure + shift) % 4 {
    case 0: .keepStore
    case 1: .write(.string("ruled"))
    case 2: .writeConcurrently(field.mine)
    default: .reportConflict
    }
  }

  /// Clean fields follow the store; a clean record does as a whole.
  mutating func refresh(from store: Replica) {
    let isClean =
      !isDeletion && edits.isEmpty && !keys.contains { isDirty($0) }
    if isClean {
      self = PolicyTable(policy, store, keys)
      return
    }
    if isDeletion { return }
    let now = store.fetch(PolicyTable.card)
    for key in keys where !isDirty(key) {
      if now.fields[key] == nil, fetched.fields[key] == nil { continue }
      mine[key] = nil
      base[key] = now.exists ? now.fields[key] : nil
      wasShown = wasShown || now.exists
      fetched.refresh(key, from: now)
    }
    for key in PolicyTable.extras where !edits.contains(key) {
      if now.fields[key] == nil, fetched.fields[key] == nil { continue }
      wasShown = wasShown || now.exists
      fetched.refresh(key, from: now)
    }
  }

  func baseValue(_ key: FieldKey) -> Value? { base[key]?.value }
  func myValue(_ key: FieldKey) -> Value? {
    mine[key] ?? (isDeletion ? nil : baseValue(key))
  }
  func isDirty(_ key: FieldKey) -> Bool { myValue(key) != baseValue(key) }
}
