// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import RejoinTesting

/// Compares a policy in an editing context with ``PolicyTable``.
///
/// The bytes choose the edits of the context and of its replica.
struct ContextBody {
  private var source: ByteSource
  private let policy: MergePolicy
  private let keys: [FieldKey]
  private let quiet: Set<FieldKey>
  private let rule: DeletionRule
  private let store: Replica
  private let other: Replica
  /// The draft that is edited instead of the context, if the bytes choose one.
  private var draft: RecordDraft<AnyEntity>?

  init(_ bytes: [UInt8]) {
    var source = ByteSource(bytes)
    policy = source.policy()
    keys = (0...source.below(4)).map { FieldKey("f\($0)", .register) }
    quiet = Set(keys.filter { _ in source.flag() })
    let bits = source.below(4)
    rule = bits & 2 != 0 ? .deleteWins : .updateWins
    let schema = Schema([
      SchemaName(PolicyTable.card.entity): .init(
        fields: Set(keys + PolicyTable.extras), quietFields: quiet,
        deletion: rule)
    ])
    store = ContextBody.replica(1, schema, hoursAhead: 0)
    other = ContextBody.replica(2, schema, hoursAhead: bits & 1)
    self.source = source
  }

  private static func replica(
    _ number: UInt64, _ schema: Schema, hoursAhead: Int
  ) -> Replica {
    Replica(
      device: DeviceID(number), schema: schema,
      wallClock: ManualClock(1_000_000 + 3_600_000 * Int64(hoursAhead))
        .wallClock,
      makeDeviceID: { DeviceID(99) })
  }

  func check() throws(FuzzFailure) {
    var run = self
    do { try run.run() } catch let error as FuzzFailure { throw error } catch {
      throw FuzzFailure("a save throws \(error)")
    }
  }

  private mutating func run() throws {
    let blank = store.fork(as: DeviceID(51))
    let shownCard = try ShownCard(store, quiet: quiet)
    if source.below(4) > 0 { try change(store) }
    try shownCard.check(after: "the first change")
    let shown = store.fork(as: DeviceID(52))
    other.merge(store)
    let context = EditingContext(store, mergePolicy: policy)
    if source.below(3) == 0 {
      draft = store.draft(PolicyTable.card)
    } else {
      context.fetch(PolicyTable.card)
    }
    var table = PolicyTable(policy, store, keys, quiet: quiet)
    try table.checkWritingBack(to: store)
    edit(context, &table)
    if draft == nil { try table.writeBack(in: context) }
    for _ in 0..<source.below(3) { try change(source.flag() ? store : other) }
    try shownCard.check(after: "later changes")
    store.merge(other)
    try shownCard.check(after: "the merge")
    if draft == nil, source.below(4) == 0 {
      context.refresh()
      table.refresh(from: store)
      edit(context, &table)
    }
    if let draft {
      try table.checkCommits(of: draft, without: blank, with: shown)
    }
    if rule == .deleteWins {
      try table.checkUnderDeleteWins(context, &draft, store)
    } else {
      try table.check(context, &draft, store)
    }
    try shownCard.check(after: "the save")
    try checkUndo(shownCard)
  }

  /// The save of a context or a draft can be undone and redone.
  private func checkUndo(_ shownCard: ShownCard) throws {
    guard store.undoHistory.undoName == PolicyTable.saveName else { return }
    // The checks of the queue resolve it, in later saves.
    switch policy {
    case .manual, .custom: return
    default: break
    }
    let saved = store.fetched(PolicyTable.card)
    for verb in [store.undo, store.redo] {
      let result = try verb()
      try shownCard.check(after: "undo or redo")
      guard case .done(let report) = result, report.unrevertedFields.isEmpty
      else {
        // The undo of a re-creation restores a deletion that is final.
        let marks = store.fetched(PolicyTable.card)[.existence].marks
        if marks.contains(where: \.isFinal) { return }
        throw FuzzFailure(
          "\(policy.name): the save cannot be undone and redone")
      }
    }
    let again = store.fetched(PolicyTable.card)
    try equal("\(policy.name): exists", again.exists, saved.exists)
    for key in keys + PolicyTable.extras {
      // A ledger keeps the reversing entries.
      try require(
        key.kind == .ledger
          ? again[key].total == saved[key].total
          : again[key].shows(sameAs: saved[key]),
        "\(policy.name): \(key.name) differs after undo and redo")
    }
  }

  /// A replica writes some of the fields, undoes its last save, deletes the
  /// record, announces that it will purge the record, and perhaps does so, or
  /// retires the other device.
  private mutating func change(_ replica: Replica) throws(SaveError) {
    switch source.below(16) {
    case 0, 1: try save(on: replica) { $0.delete(PolicyTable.card) }
    case 2: try purge(on: replica)
    case 3:
      try purge(on: replica)
      exchangeVersions()
      try replica.purgeDeletedRecords()
    case 4:
      try replica.retire(replica === store ? other.device : store.device)
    case 5:
      try replica.undo()
    default: try write(on: replica)
    }
  }

  private func save(
    on replica: Replica, _ body: (Transaction) -> Void
  ) throws(SaveError) {
    try replica.save(undoable: "save", body)
  }

  /// A replica deletes the record, and announces its purge after the other
  /// replica received the deletion.
  private func purge(on replica: Replica) throws(SaveError) {
    try save(on: replica) { $0.delete(PolicyTable.card) }
    exchangeVersions()
    try replica.purgeDeletedRecords()
  }

  /// The replicas exchange all saves, and their versions until these are stable.
  private func exchangeVersions() {
    for (a, b) in [(store, other), (other, store), (store, other)] {
      a.merge(b)
      a.recordVersion(b.version, of: b.device)
      b.recordVersion(a.version, of: a.device)
    }
  }

  private mutating func write(on replica: Replica) throws(SaveError) {
    var values: [(FieldKey, Value?)] = []
    for key in keys where source.flag() { values.append((key, source.value())) }
    let extras = source.byte()
    try save(on: replica) { transaction in
      for (key, value) in values {
        transaction.apply(.write(value), to: key, of: PolicyTable.card)
      }
      for (bit, key) in PolicyTable.extras.enumerated()
      where extras >> bit & 1 != 0 {
        transaction.apply(
          key.kind.adding(3), to: key, of: PolicyTable.card)
      }
    }
  }

  /// The context edits some of the fields, and may delete the record and edit
  /// it again.
  private mutating func edit(
    _ context: EditingContext, _ table: inout PolicyTable
  ) {
    for key in keys where source.flag() {
      let value = source.value()
      perform(.write(value), on: key, in: context)
      table.write(value, to: key)
    }
    let extras = source.byte()
    if draft != nil, extras >> 4 & 1 != 0 {
      let value: Value? =
        extras >> 5 & 1 != 0 ? "settled" : draft?.value(of: keys[0])
      draft?.resolve([keys[0]: value])
      table.resolve(keys[0], with: value)
    }
    for (bit, key) in PolicyTable.extras.enumerated()
    where extras >> bit & 1 != 0 && table.edits.insert(key).inserted {
      perform(key.kind.adding(5), on: key, in: context)
    }
    guard source.below(6) == 5 else { return }
    if draft == nil {
      context.delete(PolicyTable.card)
    } else {
      draft?.delete()
    }
    table.delete()
    if source.flag() { edit(context, &table) }
  }

  private mutating func perform(
    _ edit: FieldEdit, on key: FieldKey, in context: EditingContext
  ) {
    if draft == nil {
      context.apply(edit, to: key, in: PolicyTable.card)
    } else {
      draft?.apply(edit, to: key)
    }
  }
}

extension ByteSource {
  fileprivate mutating func value() -> Value? {
    pick([nil, .null, .int(0), .int(1), .string("x")])
  }

  /// A policy, which may be custom.
  fileprivate mutating func policy() -> MergePolicy {
    let number = below(MergePolicy.named.count + 1)
    if number < MergePolicy.named.count { return MergePolicy.named[number] }
    let shift = below(4)
    return .custom { field in
      PolicyTable.rule(field, shift: shift)
    }
  }
}
