// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification

/// Opens a stored replica and uses it.
struct OpenBody {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func check() throws(FuzzFailure) {
    try checkRows()
    guard let state = try? ReplicaState(decoding: bytes.resealed) else {
      return
    }
    let replica = LiveHistory.open(state)
    try require(
      replica.device == state.device || replica.deviceChange != nil,
      "the device changed without a report")
    try LiveChecks(replica).check(saving: replica.allRecordIDs.prefix(2))
    try checkTokens(of: state)
    guard let delta = LiveHistory.open(LiveHistory.shared.states[1]).delta()
    else { return }
    replica.apply(delta)
    try LiveChecks(replica).check(saving: [])
  }

  /// A record of a store is read whole, or not at all.
  private func checkRows() throws(FuzzFailure) {
    guard let state = try? OpenBody.rows.read(bytes.resealed) else { return }
    let again = try? ReplicaState(decoding: state.encoded())
    try equal("rows read again", again?.encoded(), state.encoded())
  }

  private static let rows = DamagedRows(seed: 1)

  /// A replica that is opened without a token, or with another's, takes a new
  /// device ID.
  ///
  /// Its next state opens with its own token.
  private func checkTokens(of state: ReplicaState) throws(FuzzFailure) {
    let others = LiveHistory.shared.states.map { RestoreToken($0) }
    for token in [nil] + others.map(Optional.some) {
      let opened = LiveHistory.open(state, with: token)
      let change = opened.deviceChange
      try equal(
        "whether the device changed", change != nil,
        opened.device != state.device)
      if token == nil {
        try require(change != nil, "the device did not change without a token")
      }
      // Damaged bytes may lack digests of the saves of the device.
      guard change != nil else { continue }
      let again = LiveHistory.open(opened.state, with: opened.restoreToken)
      try equal("the device with its token", again.device, opened.device)
    }
  }
}
