// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification

/// Offers damaged messages of one device to a hub.
///
/// The hub must refuse every message that changes a save or a value of another
/// device.
struct ForgeBody {
  /// The content of the hub.
  private static let base =
    LiveHistory.open(LiveHistory.shared.states[0]).delta()
  private static let forger = DeviceID(2)

  private var source: ByteSource

  init(_ bytes: [UInt8]) { source = ByteSource(bytes) }

  func check() throws(FuzzFailure) {
    var source = source
    guard let base = Self.base, let message = source.message() else {
      return
    }
    let hub = GuardedHub(holding: base)
    let before = hub.content
    guard let after = hub.offer(message, as: Self.forger) else {
      let content = hub.content
      try equal("fields after a refusal", content.delta, before.delta)
      return try equal("saves after a refusal", content.version, before.version)
    }
    for entry in after.version.vectorClock.entries
    where entry.device != Self.forger {
      try equal(
        "the last save of \(entry.device)", after.version[entry.device],
        before.version[entry.device])
    }
    let old = fields(before.delta)
    for (location, state) in fields(after.delta) {
      try check(state, at: location, over: old[location])
    }
  }

  private struct Location: Hashable, CustomStringConvertible {
    let id: RecordID
    let key: FieldKey
    var description: String { "\(key) of \(id)" }
  }

  private func fields(_ delta: Delta?) -> [Location: FieldState] {
    var fields: [Location: FieldState] = [:]
    for change in delta?.changes ?? [] {
      for (key, state) in change.fields {
        fields[Location(id: change.id, key: key)] = state
      }
    }
    return fields
  }

  /// Compares a field with its former state.
  private func check(
    _ state: FieldState, at location: Location, over before: FieldState?
  ) throws(FuzzFailure) {
    let known = before?.clock ?? VectorClock()
    for entry in state.clock.entries where entry.device != Self.forger {
      try equal(
        "the last save of \(entry.device) in \(location)", entry.count,
        known[entry.device])
    }
    // A device may change a field at will if only its own saves are in the
    // field.
    if state.clock.entries.allSatisfy({ $0.device == Self.forger }) { return }
    if state.clock[Self.forger] == known[Self.forger] {
      return try equal("\(location), without a save", state, before ?? state)
    }
    if let before, let fault = state.forgery(by: Self.forger, over: before) {
      throw FuzzFailure("\(location): \(fault)")
    }
  }
}

extension ByteSource {
  /// Returns a message of the forger with some bytes replaced.
  fileprivate mutating func message() -> Delta? {
    let replica = LiveHistory.open(LiveHistory.shared.states[1])
    replica.merge(LiveHistory.open(LiveHistory.shared.states[0]))
    var bases = [replica.version, ReplicaVersion()]
    for _ in 0..<below(3) {
      let verbs = verbs()
      _ = try? replica.save { transaction in
        transaction.perform(verbs)
      }
      bases.append(replica.version)
    }
    let basis = pick(bases)
    var delta =
      below(4) == 0
      ? replica.delta(since: basis, byteLimit: 1) : replica.delta(since: basis)
    if flag(), let changes = delta?.changes {
      let half = changes.count / 2
      delta = Delta(
        flag() ? Array(changes.prefix(half)) : Array(changes.dropFirst(half)))
    }
    guard var bytes = delta?.encoded() else { return nil }
    for _ in 0..<below(4) {
      let index = Int(byte()) << 8 | Int(byte())
      bytes[index % bytes.count] ^= byte()
    }
    return try? Delta(decoding: bytes.resealed)
  }
}
