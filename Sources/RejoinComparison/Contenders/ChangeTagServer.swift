// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies

/// A server's copy of a record, into which clients merge under a policy.
struct ChangeTagServer {
  private let policy: MergePolicy
  private let episode: Episode
  /// Whether a save is refused if another device saved since, even the same
  /// value.
  private var checksTags: Bool {
    if case .error = policy { true } else { false }
  }
  private(set) var record: PlainRecord?
  /// The copies of the devices whose queues are blocked by a refused edit.
  private(set) var stuck: [String: PlainRecord?] = [:]
  /// The device whose save changed the tag last.
  private var writer: String?

  /// The name of a field for the record's existence, which no episode uses.
  private static let existence = "\u{0}exists"

  init(_ policy: MergePolicy, _ episode: Episode) {
    self.policy = policy
    self.episode = episode
    record = episode.base
  }

  mutating func receive(_ upload: Upload) {
    if stuck[upload.device] != nil {
      hold(upload)
      return
    }
    let differences = differences(of: upload)
    let decision = policy.decide(
      differences, isInsertion: upload.isCreation && record != nil)
    // A save changes the tag even if it writes the same values.
    let isStale = writer.map { $0 != upload.device } ?? false
    if decision.isRefused || checksTags && isStale {
      hold(upload)
    } else {
      write(decision, differences, of: upload)
      writer = upload.device
    }
  }

  /// Leaves an edit on its device, which keeps its own copy.
  private mutating func hold(_ upload: Upload) {
    let unfetched = episode.unfetched(by: upload.device)
    let copy = upload.after?.merging(unfetched) { mine, _ in mine }
    stuck.updateValue(copy, forKey: upload.device)
  }

  /// Deletes the record without a check, unless the device is blocked.
  mutating func delete(for device: String) {
    if stuck[device] == nil {
      (record, writer) = (nil, device)
    } else {
      stuck.updateValue(nil, forKey: device)
    }
  }

  /// The ending of the episode if the app ignores the errors.
  var outcome: Outcome {
    if stuck.isEmpty { return Outcome(everywhere: record) }
    var outcome = Outcome(
      states: episode.devices.map { stuck[$0] ?? record })
    outcome.waiting = Set(stuck.keys)
    return outcome
  }

  private mutating func write(
    _ decision: PolicyDecision, _ differences: [FieldDifference],
    of upload: Upload
  ) {
    var written: Set<String> = []
    for field in differences {
      switch decision.outcomes[SchemaName(field.field)] {
      case .write, .writeConcurrently: written.insert(field.field)
      case .reportConflict, .keepStore, nil: break
      }
    }
    guard let after = upload.after else {
      if written.contains(Self.existence) { record = nil }
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
}

extension ChangeTagServer {
  /// Returns the base, mine and store values of every field.
  ///
  /// The client fetched the base and edited it, and the server stores the third
  /// value. If the client's query left out a field, the field is not compared
  /// and does not change on the server.
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
        mine: mine[field]?.asOneValue,
        store: record?[field]?.asOneValue,
        storeWasDeleted: isGone)
    }
    return registers + [existence(upload, registers)]
  }

  /// Returns the record's existence as a field.
  ///
  /// The existence conflicts with a deletion if any field changed.
  private func existence(
    _ upload: Upload, _ fields: [FieldDifference]
  ) -> FieldDifference {
    let isContested = fields.contains(where: \.isChangedInStore)
    return FieldDifference(
      field: Self.existence, base: upload.before.map { _ in .bool(true) },
      mine: upload.after.map { _ in .bool(true) },
      store: record.map { _ in .bool(true) },
      storeWasDeleted: upload.after == nil && isContested)
  }
}
