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
    for entry in after.version.vector.entries where entry.device != Self.forger
    {
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
    switch (state, before) {
    case (.register(let now), .register(let old)):
      for sibling in now.store where sibling.dot.device != Self.forger {
        try require(
          old.store.contains(sibling),
          "\(location) has a value of \(sibling.dot), which did not write it")
      }
    case (.counter(let now), .counter(let old)):
      try equal(
        "sums of others in \(location)",
        now.store.entries.filter { $0.device != Self.forger },
        old.store.entries.filter { $0.device != Self.forger })
    case (.ledger(let now), .ledger(let old)):
      for (device, line) in now.store.lines where device != Self.forger {
        let former = old.store.lines[device]
        try equal("entries in \(location)", line.count, former?.count)
        try equal(
          "the sum in \(location)", line.total + line.cancelledSum,
          former.map { $0.total + $0.cancelledSum })
      }
    case (.existence(let now), .existence(let old)):
      for mark in now.store where mark.dot.device != Self.forger {
        try require(
          old.store.contains(mark),
          "\(location) has a mark of \(mark.dot), which did not write it")
      }
    case (.set, .set), (_, nil): break
    default: throw FuzzFailure("\(location) is a field of another kind")
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
        for verb in verbs { transaction.perform(verb) }
      }
      bases.append(replica.version)
    }
    var delta = replica.delta(since: pick(bases))
    if flag() { delta = delta?.split(into: 2)[below(2)] }
    guard var bytes = delta?.encoded() else { return nil }
    for _ in 0..<below(4) {
      let place = Int(byte()) << 8 | Int(byte())
      bytes[place % bytes.count] ^= byte()
    }
    return try? Delta(decoding: bytes.resealed)
  }
}
