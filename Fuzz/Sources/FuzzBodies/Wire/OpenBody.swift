// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Opens a stored replica and works with it.
struct OpenBody {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func check() throws(FuzzFailure) {
    guard let stored = try? StoredReplica(decoding: bytes.resealed) else {
      return
    }
    let replica = LiveHistory.open(stored)
    try require(
      replica.device == stored.device || replica.deviceChange != nil,
      "another device")
    try LiveChecks(replica).check(saving: replica.allRecordIDs.prefix(2))
    try checkTokens(of: stored)
    guard let delta = LiveHistory.open(LiveHistory.shared.states[1]).delta()
    else { return }
    replica.apply(delta)
    try LiveChecks(replica).check(saving: [])
  }

  /// A replica that is lost without its token, or meets a token of another, goes on
  /// as a new device, and what it stores then opens with its own.
  private func checkTokens(of stored: StoredReplica) throws(FuzzFailure) {
    let others = LiveHistory.shared.states.map { RestoreToken($0) }
    for token in [nil] + others.map(Optional.some) {
      let opened = LiveHistory.open(stored, with: token)
      let change = opened.deviceChange
      try equal(
        "whether the device changed", change != nil,
        opened.device != stored.device)
      if token == nil { try require(change != nil, "no token is needed") }
      // Damaged bytes may lack the digests of what the device has saved.
      guard change != nil else { continue }
      let again = LiveHistory.open(opened.state, with: opened.restoreToken)
      try equal("the device with its token", again.device, opened.device)
    }
  }
}
