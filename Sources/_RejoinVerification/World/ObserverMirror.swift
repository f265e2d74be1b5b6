// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinStore

/// The view of an observer that knows only the reported changes of a store.
///
/// The view must equal the content of the store.
final class ObserverMirror {
  private struct Reading: Equatable {
    var exists: Bool
    var fields: [FieldKey: FieldReading] = [:]
  }

  private let replica: Replica
  private let pending: PendingChanges
  /// The signals that keep the observer registered.
  private let signals: AsyncStream<Void>
  private var readings: [RecordID: Reading] = [:]

  init(of scope: StoredScope) {
    replica = scope.replica
    (pending, signals) = scope.observers.observe()
    let stored = replica.state
    for position in 0..<stored.recordCount {
      let id = stored.recordID(at: position)
      readings[id] = reading(replica.record(id), id)
    }
  }

  func check(named name: String) throws(ScriptMismatch) {
    for change in pending.take()?.all ?? [] {
      try agree(
        "what \(change.id) was, as told by \(name)",
        reading(change.old, change.id), readings[change.id])
      readings[change.id] = reading(change.new, change.id)
    }
    let stored = replica.state
    for position in 0..<stored.recordCount {
      let id = stored.recordID(at: position)
      if BuiltIn.isBuiltIn(id.entity) { continue }
      try agree(
        "what \(id) is, as told by \(name)", readings[id],
        reading(replica.record(id), id))
    }
  }

  private func reading(_ record: Record?, _ id: RecordID) -> Reading? {
    guard let record else { return nil }
    var told = Reading(exists: record.exists)
    for key in replica.schema[id.entity].fields {
      told.fields[key] = record.reading(of: key)
      told.fields[key]?.author = nil
    }
    return told
  }
}
