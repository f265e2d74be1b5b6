// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// The rows of a stored record, with functions to read them after damage.
public struct DamagedRows: Sendable {
  private let head: [UInt8]
  private let body: [UInt8]
  /// The changes of the record after its row was written, one patch per save.
  private let patches: [[UInt8]]
  private let state: ReplicaState

  /// The bytes of all rows.
  public var all: [[UInt8]] { [head, body] + patches }

  /// Creates a record with every kind of field, and changes it in some saves.
  ///
  /// - Parameter seed: The seed of the random changes.
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
    // The body is encoded before the patches. The rows of saves come from the
    // final state, so they cover both.
    body = replica.state.encodedRecord(at: 0)
    var patches: [[UInt8]] = []
    for _ in 0..<3 {
      replica.recordWritten(0)
      save()
      patches += replica.state.encodedPatch(ofRecordAt: 0).map { [$0] } ?? []
    }
    self.patches = patches
    state = replica.state
    head = state.encodedHead()
  }

  /// Reads the rows, with one of them replaced.
  ///
  /// - Parameter bytes: The replacement of the body, or of all patches if it is
  ///   a patch.
  /// - Returns: The state in the rows.
  /// - Throws: `WireError`
  public func read(_ bytes: [UInt8]) throws(WireError) -> ReplicaState {
    let isPatch = bytes.count > 1 && bytes[1] == UInt8(ascii: "u")
    var assembly = try StoredAssembly(head: head)
    assembly.add(state.version[state.device], of: state.device)
    assembly.add(
      ownDigests: state.ownDigests.digests, above: state.ownDigests.floor)
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

  /// Returns whether the undamaged rows have the content of the replica.
  ///
  /// - Throws: `WireError`
  public func areWhole() throws(WireError) -> Bool {
    try read(body).encoded() == state.encoded()
  }
}
