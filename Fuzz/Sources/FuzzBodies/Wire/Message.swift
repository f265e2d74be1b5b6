//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin

/// A message of any kind, as it was read.
enum Message {
  case delta(Delta)
  case snapshot(Snapshot)
  case record(Delta.Change)
  case vectorClock(VectorClock)
  case replicaClock(ReplicaClock)
  case stored(StoredReplica)

  /// Reads a message of the kind that its second byte names.
  init(decoding bytes: [UInt8]) throws(WireError) {
    switch bytes.dropFirst().first.map({ UnicodeScalar($0) }) {
    case "s": self = .snapshot(try Snapshot(decoding: bytes))
    case "r": self = .record(try Delta.Change(decoding: bytes))
    case "v": self = .vectorClock(try VectorClock(decoding: bytes))
    case "c": self = .replicaClock(try ReplicaClock(decoding: bytes))
    case "p": self = .stored(try StoredReplica(decoding: bytes))
    default: self = .delta(try Delta(decoding: bytes))
    }
  }

  /// The message as bytes; clocks without times and stored replicas are written
  /// in the current version only.
  func encoded(_ version: WireVersion) -> [UInt8] {
    switch self {
    case .delta(let delta): delta.encoded(version: version)
    case .snapshot(let snapshot): snapshot.encoded(version: version)
    case .record(let record): record.encoded(version: version)
    case .vectorClock(let clock): clock.encoded()
    case .replicaClock(let clock): clock.encoded(version: version)
    case .stored(let stored): stored.encoded()
    }
  }

  /// Whether the message can be written in an older version of the format.
  var hasVersions: Bool {
    switch self {
    case .vectorClock, .stored: false
    default: true
    }
  }

  /// The records in the message, as something that can be joined.
  var delta: Delta? {
    switch self {
    case .delta(let delta): delta
    case .snapshot(let snapshot): snapshot.delta
    case .record(let record): Delta([record])
    default: nil
    }
  }
}
