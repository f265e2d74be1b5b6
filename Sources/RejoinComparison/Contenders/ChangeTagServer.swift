// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies

/// The server's copy of a record, with the clients that merge into it.
struct ChangeTagServer {
  private let policy: MergePolicy
  private let episode: Episode
  private(set) var record: PlainRecord?
  /// The copies of the devices whose queues are blocked by a refused edit.
  private(set) var stuck: [String: PlainRecord?] = [:]
  /// The register values that a policy keeps outside the record, by field.
  private(set) var kept: [String: Set<Value?>] = [:]

  /// The field that stands for the record's existence; no episode's field has
  /// this name.
  private static let existence = "\u{0}exists"

  init(_ policy: MergePolicy, _ episode: Episode) {
    self.policy = policy
    self.episode = episode
    record = episode.base
  }

  /// Whether the client keeps a list of the values that it replaced.
  ///
  /// Under the other policies, a plain record has no place for them.
  private var keepsSiblings: Bool {
    if case .merge = policy { true } else { false }
  }

  mutating func receive(_ upload: Upload) {
    if stuck[upload.device] != nil {
      hold(upload)
      return
    }
    let differences = differences(of: upload)
    let decision = policy.decide(
      differences, isInsertion: upload.isCreation && record != nil)
    if decision.isRefused {
      hold(upload)
    } else {
      write(decision, differences, of: upload)
    }
  }

  /// Leaves an edit on its device, which keeps what it wrote.
  private mutating func hold(_ upload: Upload) {
    let unfetched = episode.unfetched(by: upload.device)
    let copy = upload.after?.merging(unfetched) { mine, _ in mine }
    stuck.updateValue(copy, forKey: upload.device)
    for field in upload.changes.keys {
      keep(upload.after?.value(field), field)
    }
  }

  /// Lets the blocked devices know the server's values, as the error of their
  /// last attempt does.
  mutating func finish() {
    guard !stuck.isEmpty else { return }
    for field in episode.changedFields { keep(record?.value(field), field) }
  }

  private mutating func write(
    _ decision: PolicyDecision, _ differences: [FieldDifference],
    of upload: Upload
  ) {
    var written: Set<String> = []
    for field in differences {
      switch decision.outcomes[Name(field.field)] {
      case .write: written.insert(field.field)
      case .writeConcurrently:
        written.insert(field.field)
        if field.isChanged, keepsSiblings { keep(field.store, field.field) }
      case .reportConflict: keep(field.mine, field.field)
      case .keepStore, nil: break
      }
    }
    guard let after = upload.after else {
      if written.contains(Self.existence) {
        delete(decision, differences)
      }
      return
    }
    guard !written.isEmpty else { return }
    guard var merged = record else {
      record = after
      return
    }
    written.remove(Self.existence)
    for field in written { merged[field] = after[field] }
    record = merged
  }

  /// Deletes the record.
  ///
  /// A policy that keeps siblings lists the values that have changed on the
  /// server.
  private mutating func delete(
    _ decision: PolicyDecision, _ differences: [FieldDifference]
  ) {
    if keepsSiblings {
      differences.filter(\.isChanged).forEach { keep($0.store, $0.field) }
    }
    record = nil
  }

  private mutating func keep(_ value: Value?, _ field: String) {
    guard episode.kind(of: field) == .register else { return }
    kept[field, default: []].insert(value)
  }
}

extension ChangeTagServer {
  /// The base, mine and store values of every field: as fetched by the client,
  /// as edited, and on the server.
  ///
  /// A field that the client's query left out is not compared and stays as it
  /// is on the server.
  private func differences(of upload: Upload) -> [FieldDifference] {
    let before = upload.before ?? [:]
    let mine = upload.after ?? before
    let isGone = record == nil && upload.before != nil
    var fields = Set(before.keys).union(mine.keys)
    let fetched = episode.fetched[upload.device]
    fields.formUnion(
      (record ?? [:]).keys.filter { fetched?.contains($0) ?? true })
    let registers = fields.sorted().map { field in
      FieldDifference(
        field: field, base: before[field]?.asOneValue,
        mine: mine[field]?.asOneValue, store: record?[field]?.asOneValue,
        storeWasDeleted: isGone)
    }
    return registers + [existence(upload, registers)]
  }

  /// The record's existence as a field.
  ///
  /// It is in conflict with a deletion if any field has changed.
  private func existence(
    _ upload: Upload, _ fields: [FieldDifference]
  ) -> FieldDifference {
    let isContested = fields.contains(where: \.isChanged)
    return FieldDifference(
      field: Self.existence, base: upload.before.map { _ in .bool(true) },
      mine: upload.after.map { _ in .bool(true) },
      store: record.map { _ in .bool(true) },
      storeWasDeleted: upload.after == nil && isContested)
  }
}
