// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import _RejoinVerification

/// A second implementation of the table of merge policies, based on the content
/// that a record shows.
///
/// It predicts the writes, the dropped changes and the result of a save.
struct PolicyTable {
  static let card = RecordID("Card", "a")
  /// The fields whose edits never conflict.
  ///
  /// Each has a bit in the inputs.
  static let extras = FieldKind.allCases.filter { $0 != .register }.map {
    FieldKey(String($0.rawValue.prefix(1)), $0)
  }

  let policy: MergePolicy
  /// The registers.
  let keys: [FieldKey]
  /// The registers that never cause a conflict.
  let quiet: Set<FieldKey>
  /// The values that the context wrote after its last deletion.
  var mine: [FieldKey: Value?] = [:]
  /// The values that settle registers, whatever the policy.
  private(set) var resolved: [FieldKey: Value?] = [:]
  /// The counters, sets and ledgers that the context edited after its last
  /// deletion.
  var edits: Set<FieldKey> = []
  /// Whether the context deletes the record.
  private(set) var isDeletion = false
  /// The values and edits of the context before it deleted the record.
  private(set) var undone: (values: [FieldKey: Value?], edits: [FieldKey]) = (
    [:], []
  )
  /// Whether the record existed when it was fetched, or at a refresh since.
  private var wasShown: Bool
  /// The record as fetched.
  let fetched: Record
  /// The states of clean fields at the last refresh.
  private var refreshed: [FieldKey: FieldState] = [:]
  /// The registers as shown before any edit.
  private(set) var base: [FieldKey: FieldState] = [:]

  init(
    _ policy: MergePolicy, _ store: Replica, _ keys: [FieldKey],
    quiet: Set<FieldKey>
  ) {
    (self.policy, self.keys, self.quiet) = (policy, keys, quiet)
    fetched = store.fetched(PolicyTable.card)
    wasShown = fetched.exists
    if fetched.exists {
      for key in fetched.fields { base[key] = fetched[key] }
    }
  }

  /// The state of a field as fetched, or at the last refresh.
  func seen(_ key: FieldKey) -> FieldState { refreshed[key] ?? fetched[key] }

  /// Whether the context creates the record again after deleting it.
  var isCreatedAgain: Bool {
    isDeletion && !(mine.isEmpty && edits.isEmpty)
  }

  /// Deletes the record in the context, or only withdraws its insertion if the
  /// context never showed it.
  mutating func delete() {
    if wasShown {
      isDeletion = true
      undone.values.merge(mine) { $1 }
      undone.values.merge(resolved) { $1 }
      undone.edits += edits
    }
    (mine, resolved, edits) = ([:], [:], [])
  }

  /// Writes a value in the context.
  mutating func write(_ value: Value?, to key: FieldKey) {
    if resolved[key] == nil {
      mine[key] = .some(value)
    } else {
      resolved[key] = .some(value)
    }
  }

  /// Settles a register in a draft.
  mutating func resolve(_ key: FieldKey, with value: Value?) {
    mine[key] = isDeletion ? .some(value) : nil
    if !isDeletion { resolved[key] = .some(value) }
  }

  /// The rule of a custom policy, which returns every kind of outcome.
  static func rule(_ field: FieldDifference, shift: Int) -> FieldOutcome {
    let figure = Int(field.field.utf8.last ?? 0)
    return switch (figure + shift) % 4 {
    case 0: .keepStore
    case 1: .write(.string("ruled"))
    case 2: .writeConcurrently(field.mine)
    default: .reportConflict
    }
  }

  /// Moves clean fields forward, and a clean record as a whole.
  mutating func refresh(from store: Replica) {
    let isClean =
      !isDeletion && edits.isEmpty && !keys.contains { isChangedInContext($0) }
    if isClean {
      self = PolicyTable(policy, store, keys, quiet: quiet)
      return
    }
    if isDeletion { return }
    let now = store.fetched(PolicyTable.card)
    for key in keys where !isChangedInContext(key) {
      if !now.fields.contains(key), !isTouched(key) { continue }
      mine[key] = nil
      base[key] = now.exists && now.fields.contains(key) ? now[key] : nil
      wasShown = wasShown || now.exists
      refreshed[key] = now[key]
    }
    for key in PolicyTable.extras where !edits.contains(key) {
      if !now.fields.contains(key), !isTouched(key) { continue }
      wasShown = wasShown || now.exists
      refreshed[key] = now[key]
    }
  }

  /// Returns whether a save touched a field.
  func isTouched(_ key: FieldKey) -> Bool {
    fetched.fields.contains(key) || refreshed[key] != nil
  }

  func baseValue(_ key: FieldKey) -> Value? { base[key]?.value }
  func myValue(_ key: FieldKey) -> Value? {
    resolved[key] ?? mine[key] ?? (isDeletion ? nil : baseValue(key))
  }
  func isChangedInContext(_ key: FieldKey) -> Bool {
    resolved[key] == nil && myValue(key) != baseValue(key)
  }
}
