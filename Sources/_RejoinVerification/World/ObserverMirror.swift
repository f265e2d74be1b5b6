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
    let state = replica.state
    for position in 0..<state.recordCount {
      let id = state.recordID(at: position)
      readings[id] = reading(replica.record(id), id)
    }
  }

  func check(named name: String) throws(ScriptMismatch) {
    for change in pending.take()?.all ?? [] {
      try agree(
        "what \(change.id) was, as reported by \(name)",
        reading(change.old, change.id), readings[change.id])
      readings[change.id] = reading(change.new, change.id)
    }
    let state = replica.state
    for position in 0..<state.recordCount {
      let id = state.recordID(at: position)
      if BuiltIn.isBuiltIn(id.entity) { continue }
      try agree(
        "what \(id) is, as reported by \(name)", readings[id],
        reading(replica.record(id), id))
    }
  }

  private func reading(_ record: Record?, _ id: RecordID) -> Reading? {
    guard let record else { return nil }
    var shown = Reading(exists: record.exists)
    for key in replica.schema[id.entity].fields {
      var reading = record.reading(of: key)
      reading.author = nil
      // No change is reported if a reference in a deleted record starts or stops
      // to be shown.
      if !record.exists { reading.removeReferences() }
      shown.fields[key] = reading
    }
    return shown
  }
}

extension FieldReading {
  /// Removes the references, and counts the other values as conflicts.
  fileprivate mutating func removeReferences() {
    func isReference(_ value: Value) -> Bool {
      if case .reference = value { true } else { false }
    }
    elements.removeAll(where: isReference)
    let values = ([value] + conflicts).compactMap { $0 }
    value = nil
    conflicts = values.filter { !isReference($0) }.sorted()
  }
}
