// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification

/// Checks of a replica after it applied a damaged or forged message.
struct LiveChecks {
  private let replica: Replica

  init(_ replica: Replica) { self.replica = replica }

  /// Saves to some of the message's records and to one other record, reads them
  /// back, and sends everything.
  func check(saving ids: some Sequence<RecordID>) throws(FuzzFailure) {
    readEverything()
    let before = replica.version
    try checkRelay()
    for id in ids where replica.schema.entities[SchemaName(id.entity)] != nil {
      try checkSaves(in: id)
    }
    try checkSaves(in: ScriptUniverse.standard.records[0])
    try checkRows()
    try checkOthers()
    guard let delta = replica.delta(since: before) else {
      throw FuzzFailure("a delta lacks the saves since its basis")
    }
    try checkBytes(of: delta)
    try checkRelay()
  }

  /// Reading anything must not trap.
  private func readEverything() {
    for id in replica.allRecordIDs {
      guard let record = replica.record(id) else { continue }
      for key in record.fields {
        _ = (record[key].writes, record.value(of: key))
        _ = (record.conflictingValues(of: key), record.write(of: key))
        _ = (record.elements(of: key), record.insertions(of: key))
        _ = (record.count(of: key), record.amounts(of: key))
        _ = (record.total(of: key), record.entries(of: key))
      }
    }
    _ = (replica.stabilityCut, replica.latestMissingSaves, replica.restoreToken)
  }

  /// A replica that receives everything from this one is equal to it.
  private func checkRelay() throws(FuzzFailure) {
    guard let delta = replica.delta() else { return }
    try checkBytes(of: delta)
    let other = LiveHistory.empty(DeviceID(7))
    other.apply(delta)
    try equal("fields that were relayed", other.delta(), delta)
    // A delta contains no prefix, so the fields of a prefix are ahead there.
    if replica.version.prefixes.isEmpty {
      try equal(
        "version that was relayed", other.version.fieldsAhead,
        replica.version.fieldsAhead)
    }
    try require(
      other.delta(since: replica.version) == nil, "unseen changes for an equal")
  }

  /// Decoding an encoded delta gives the same delta.
  private func checkBytes(of delta: Delta) throws(FuzzFailure) {
    let read: Delta
    do { read = try Delta(decoding: delta.encoded()) } catch {
      throw FuzzFailure("a delta that was encoded is refused: \(error)")
    }
    try equal("the delta decoded again", read, delta)
  }
}

// Other operations of a replica.
extension LiveChecks {
  /// Imports and pulls rows.
  private func checkRows() throws(FuzzFailure) {
    let id = RecordID("Note", "row")
    let field = FieldKey("register", .register)
    do throws(SaveError) {
      try replica.importRows {
        $0.apply(.write(.int(1)), to: field, of: RecordID("Note", "import"))
      }
      for value in [5, 6] as [Int64] {
        try retrying { () throws(SaveError) in
          try replica.importRows(from: "S", modifiedAt: 1_000_000 + value) {
            $0.apply(.write(.int(value)), to: field, of: id)
          }
        }
      }
    } catch { throw FuzzFailure("rows are refused: \(error)") }
    let imported = replica.record(RecordID("Note", "import"))?[field]
    try require(
      imported?.writes.isEmpty == false, "an imported row is missing")
    let pulled = replica.record(id)?[field]
    try require(pulled?.writes.isEmpty == false, "a pulled row is missing")
  }

  /// Uses retired devices, recorded versions, the token, purging and folding.
  private func checkOthers() throws(FuzzFailure) {
    let stranger = DeviceID(7)
    do {
      try retrying { () throws(SaveError) in try replica.retire(stranger) }
      replica.recordVersion(replica.version, of: stranger)
      replica.recordVersion(LiveHistory.shared.clocks[1], of: stranger)
      replica.confirmTokenStored(replica.restoreToken)
      let cut = replica.stabilityCut
      try retrying { () throws(SaveError) in try replica.purgeDeletedRecords() }
      _ = replica.foldLedgers()
      try require(
        cut.isContained(in: replica.stabilityCut), "the stability cut fell")
      try require(
        replica.stabilityCut.isContained(in: replica.version.vectorClock),
        "the stability cut is ahead of the version")
    } catch {
      throw error as? FuzzFailure ?? FuzzFailure("a save throws \(error)")
    }
  }

  /// Retries if a new device ID was needed and the one offered was taken.
  private func retrying<Value>(
    _ body: () throws(SaveError) -> Value
  ) throws(SaveError) {
    for _ in 0..<3 {
      do throws(SaveError) {
        _ = try body()
        return
      } catch {
        guard case .identityInUse = error else { throw error }
      }
    }
    _ = try body()
  }
}

extension LiveChecks {
  /// A save to a field of each kind succeeds, and the field shows what was
  /// written.
  private func checkSaves(in id: RecordID) throws(FuzzFailure) {
    for key in ScriptUniverse.standard.fields {
      do throws(SaveError) {
        try save(key.kind.showing(77), key, id)
      } catch {
        switch error {
        case .counterOverflow where key.kind == .counter: continue
        default: throw FuzzFailure("a save throws \(error)")
        }
      }
      let record = replica.fetched(id)
      try require(record.exists, "\(id) is missing after a save")
      try require(
        record[key].reading.shows(77, in: key.kind), "\(key) does not show 77")
    }
  }

  /// Saves, if necessary under another device ID.
  private func save(
    _ edit: FieldEdit, _ key: FieldKey, _ id: RecordID
  ) throws(SaveError) {
    try retrying { () throws(SaveError) in
      try replica.save { $0.apply(edit, to: key, of: id) }
    }
  }
}
