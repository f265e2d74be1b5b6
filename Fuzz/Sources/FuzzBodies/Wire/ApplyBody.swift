// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Joins a message to a replica in use, which must go on as if nothing had been
/// wrong with the message.
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
    try LiveChecks(replica).check(saving: delta.changes.prefix(3).map(\.id))
  }

  /// A message that comes twice changes nothing.
  private func checkAgain(
    _ delta: Delta, on replica: Replica
  ) throws(FuzzFailure) {
    let (clock, fields) = (replica.version, replica.delta())
    replica.apply(delta, reporting: .faults)
    try equal("fields after it came twice", replica.delta(), fields)
    try equal("clock after it came twice", replica.version, clock)
  }

  /// A message that comes in parts and then whole does what it does at once.
  private func checkParts(
    of delta: Delta, on state: StoredReplica, whole: Replica
  ) throws(FuzzFailure) {
    let other = LiveHistory.open(state)
    for part in delta.split(into: 3).reversed() { other.apply(part) }
    other.apply(delta)
    try equal("fields from parts", other.delta(), whole.delta())
    try equal("clock from parts", other.version, whole.version)
  }

  /// Two messages do the same in either order.
  private func checkOrder(
    _ delta: Delta, _ other: Delta?
  ) throws(FuzzFailure) {
    guard let other else { return }
    let replicas = [[delta, other], [other, delta]].map { deltas in
      let replica = LiveHistory.empty(DeviceID(8))
      for delta in deltas { replica.apply(delta) }
      return Delta(replica.delta()?.changes ?? [])
    }
    try equal("fields in another order", replicas[0], replicas[1])
  }
}
