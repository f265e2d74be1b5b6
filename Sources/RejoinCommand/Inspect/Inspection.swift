// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What a message holds.
struct Inspection {
  enum Content {
    case delta(Delta)
    case record(Delta.Change)
    case vectorClock(VectorClock)
    case replicaVersion(ReplicaVersion)
    case token(RestoreToken)
    case stored(Replica)
  }

  let summary: WireSummary
  let content: Content

  init(_ bytes: [UInt8]) throws(WireError) {
    summary = try WireSummary(of: bytes)
    content =
      switch summary.kind {
      case "delta": .delta(try Delta(decoding: bytes))
      case "snapshot": .delta(try Snapshot(decoding: bytes).delta)
      case "record": .record(try Delta.Change(decoding: bytes))
      case "vector clock": .vectorClock(try VectorClock(decoding: bytes))
      case "replica clock": .replicaVersion(try ReplicaVersion(decoding: bytes))
      case "restore token": .token(try RestoreToken(decoding: bytes))
      default: .stored(Inspection.open(try StoredReplica(decoding: bytes)))
      }
  }

  /// Opens a stored replica to look at it; nothing is saved to it.
  private static func open(_ stored: StoredReplica) -> Replica {
    Replica(
      resuming: stored, schema: [], wallClock: WallClock { .max },
      makeDeviceID: { stored.device })
  }

  /// The records.
  var changes: [Delta.Change] {
    switch content {
    case .delta(let delta): delta.changes
    case .record(let change): [change]
    case .stored(let replica): replica.delta()?.changes ?? []
    case .vectorClock, .replicaVersion, .token: []
    }
  }

  /// The news of each device, sorted.
  var intervals: [(device: DeviceID, interval: Delta.Interval)] {
    guard case .delta(let delta) = content else { return [] }
    return delta.intervals.sorted { $0.key < $1.key }
      .map { ($0.key, $0.value) }
  }

  /// What is known of each device's saves, apart from intervals.
  var clock: [(device: DeviceID, save: DeviceSave?, sequence: UInt64)] {
    switch content {
    case .vectorClock(let clock):
      clock.entries.map { ($0.device, nil, $0.count) }
    case .replicaVersion(let clock): Inspection.saves(clock)
    case .token(let token):
      [
        (
          token.device,
          DeviceSave(
            sequence: token.sequence, time: .zero, digest: token.digest),
          token.sequence
        )
      ]
    case .stored(let replica): Inspection.saves(replica.version)
    case .delta, .record: []
    }
  }

  private static func saves(
    _ clock: ReplicaVersion
  ) -> [(device: DeviceID, save: DeviceSave?, sequence: UInt64)] {
    clock.vector.entries.map { ($0.device, clock[$0.device], $0.count) }
  }
}
