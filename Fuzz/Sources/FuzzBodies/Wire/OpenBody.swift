//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

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
    try LiveChecks(replica).check(saving: replica.allRecords.prefix(2))
    guard let delta = LiveHistory.open(LiveHistory.shared.states[1]).delta()
    else { return }
    replica.apply(delta)
    try LiveChecks(replica).check(saving: [])
  }
}
