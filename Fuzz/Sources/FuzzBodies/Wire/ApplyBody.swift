// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Applies a message, however damaged, to a replica in use, which must still
/// keep every law.
struct ApplyBody {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func check() throws(FuzzFailure) {
    guard let delta = try? Message(decoding: bytes.resealed).delta else {
      return
    }
    let state = LiveHistory.shared.states[0]
    let replica = LiveHistory.open(state)
    replica.apply(delta)
    try checkAgain(delta, on: replica)
    try checkParts(of: delta, on: state, whole: replica)
    try checkOrder(delta, LiveHistory.open(state).delta())
    try checkTransfer(from: replica, to: LiveHistory.empty(DeviceID(8)))
    try checkTransfer(
      from: replica, to: LiveHistory.open(LiveHistory.shared.states[2]))
    try LiveChecks(replica).check(saving: delta.changes.prefix(3).map(\.id))
  }

  /// Applying a message is idempotent.
  private func checkAgain(
    _ delta: Delta, on replica: Replica
  ) throws(FuzzFailure) {
    let (clock, fields) = (replica.version, replica.delta())
    replica.apply(delta, reporting: .faults)
    try equal("fields after applying twice", replica.delta(), fields)
    try equal("version after applying twice", replica.version, clock)
  }

  /// Applying the parts of a message and then the whole equals applying the
  /// whole.
  private func checkParts(
    of delta: Delta, on state: ReplicaState, whole: Replica
  ) throws(FuzzFailure) {
    let other = LiveHistory.open(state)
    for change in delta.changes.reversed() { other.apply(Delta([change])) }
    other.apply(delta)
    try equal("fields from parts", other.delta(), whole.delta())
    try equal("version from parts", other.version, whole.version)
  }

  /// A transfer in parts ends, and has the effect of a whole delta.
  private func checkTransfer(
    from sender: Replica, to receiver: Replica
  ) throws(FuzzFailure) {
    let whole = LiveHistory.open(receiver.state)
    if let delta = sender.delta(since: whole.version) { whole.apply(delta) }
    var count = 0
    while let delta = sender.delta(since: receiver.version, byteLimit: 200) {
      count += 1
      if count > 1_000 { throw FuzzFailure("a transfer in parts does not end") }
      guard receiver.apply(delta).hasAdvanced else { break }
    }
    // A receiver that knows of a fork gets the first parts repeatedly. The loop
    // ends before the fields that the sender has ahead of its version.
    if !receiver.version.forkedDevices.isEmpty { return }
    try equal("fields of a transfer", receiver.delta(), whole.delta())
  }

  /// Applying two messages is commutative, unless a part of one needs the other
  /// to come first.
  private func checkOrder(
    _ delta: Delta, _ other: Delta?
  ) throws(FuzzFailure) {
    guard let other, delta.changes.allSatisfy(\.partialFields.isEmpty) else {
      return
    }
    let replicas = [[delta, other], [other, delta]].map { deltas in
      let replica = LiveHistory.empty(DeviceID(8))
      for delta in deltas { replica.apply(delta) }
      return Delta(replica.delta()?.changes ?? [])
    }
    try equal("fields in another order", replicas[0], replicas[1])
  }
}
