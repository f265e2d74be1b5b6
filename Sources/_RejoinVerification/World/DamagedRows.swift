// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// The rows of a stored record, of which one may be damaged.
public struct DamagedRows: Sendable {
  private let head: [UInt8]
  private let body: [UInt8]
  /// What has changed of the record since its row was written, in one step each.
  private let patches: [[UInt8]]
  private let stored: ReplicaState

  /// The bytes of all rows.
  public var all: [[UInt8]] { [head, body] + patches }

  /// Makes a record of every kind of field, and changes it in some steps.
  ///
  /// - Parameter seed: Chooses the changes.
  public init(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let universe = ScriptUniverse.standard
    let id = universe.records[0]
    let replica = Replica(
      device: DeviceID(1), schema: universe.schema,
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(2) })
    replica.sendFragments()
    func save() {
      _ = try? replica.save { transaction in
        for key in universe.schema[id.entity].fields {
          for i in 0...random.number(below: 3) {
            transaction.apply(
              key.kind.rowEdit(i, &random), to: key, of: id)
          }
        }
      }
    }
    for _ in 0..<3 { save() }
    // Before the steps: the rows of saves tell of all of them.
    body = replica.state.encodedRecord(at: 0)
    var patches: [[UInt8]] = []
    for _ in 0..<3 {
      replica.recordWritten(0)
      save()
      patches += replica.state.encodedPatch(ofRecordAt: 0).map { [$0] } ?? []
    }
    self.patches = patches
    stored = replica.state
    head = stored.encodedHead()
  }

  /// Reads the rows, with the given bytes in place of one of their kind.
  ///
  /// - Returns: What was read.
  /// - Throws: `WireError`
  public func read(_ bytes: [UInt8]) throws(WireError) -> ReplicaState {
    let isPatch = bytes.count > 1 && bytes[1] == UInt8(ascii: "u")
    var assembly = try StoredAssembly(head: head)
    assembly.add(stored.version[stored.device], of: stored.device)
    assembly.add(
      ownDigests: stored.ownDigests.digests, above: stored.ownDigests.floor)
    _ = try withBytes(of: isPatch ? body : bytes) { row throws(WireError) in
      try assembly.add(record: row)
    }
    for patch in isPatch ? [bytes] : patches {
      try withBytes(of: patch) { row throws(WireError) in
        try assembly.add(patch: row, toRecordAt: 0)
      }
    }
    return try assembly.finished()
  }

  /// Reads the rows as they were written.
  ///
  /// - Returns: Whether they have what the replica has.
  public func areWhole() throws(WireError) -> Bool {
    try read(body).encoded() == stored.encoded()
  }
}
