//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

@testable import Rejoin

/// A device of a random history: a replica, and what the oracle says of it.
struct HistoryPeer {
  let clock: HandSetClock
  var replica: Replica
  var model: OracleReplica
}

/// A message under way.
struct HistoryMessage {
  let delta: Delta
  let model: OracleDelta
}

/// A stored replica.
struct HistoryBackup {
  let state: StoredReplica
  let model: OracleReplica
}

/// The first thing in which replicas and oracle differ.
struct HistoryMismatch: Error {
  let what: String
}

/// Throws unless two things are equal.
func agree<Thing: Equatable>(
  _ what: @autoclosure () -> String, _ real: Thing, _ expected: Thing
) throws(HistoryMismatch) {
  if real == expected { return }
  throw HistoryMismatch(
    what: "\(what()): is \(real), must be \(expected)")
}
