// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSync

/// The content of an encoded message.
struct Inspection {
  enum Content {
    case delta(Delta)
    case vectorClock(VectorClock)
    case replicaVersion(ReplicaVersion)
    case token(RestoreToken)
    case stored(Replica)
    case undoStep
    /// A message of an exchange, and the contents of its version and its part.
    case exchange(SyncMessage, shown: [Inspection], part: [Inspection])
  }

  let summary: WireSummary
  let content: Content

  init(_ bytes: [UInt8]) throws(WireError) {
    summary = try WireSummary(of: bytes)
    content =
      switch summary.kind {
      case .delta: .delta(try Delta(decoding: bytes))
      case .vectorClock: .vectorClock(try VectorClock(decoding: bytes))
      case .replicaVersion: .replicaVersion(try ReplicaVersion(decoding: bytes))
      case .token: .token(try RestoreToken(decoding: bytes))
      case .undoStep: try Inspection.checkUndoStep(bytes)
      case .stored:
        .stored(Inspection.open(try ReplicaState(decoding: bytes)))
      case .request, .answer, .object: try Inspection.exchange(bytes)
      }
  }

  private static func exchange(_ bytes: [UInt8]) throws(WireError) -> Content {
    let message = try SyncMessage(decoding: bytes)
    var (shown, part) = ([] as [Inspection], [] as [Inspection])
    if let version = message.version {
      shown.append(try Inspection(version.encoded()))
    }
    if let delta = message.part {
      part.append(try Inspection(delta.encoded()))
    }
    return .exchange(message, shown: shown, part: part)
  }

  /// Opens a stored replica for reading.
  private static func open(_ state: ReplicaState) -> Replica {
    // Neither the wall clock nor a new device ID is used, because the replica
    // is only read.
    Replica(
      resuming: state, schema: [], wallClock: WallClock { .max },
      makeDeviceID: { state.device })
  }

  /// Checks an undo step, which does not contain its own save.
  private static func checkUndoStep(_ bytes: [UInt8]) throws(WireError)
    -> Content
  {
    _ = try UndoStep(decoding: bytes, dot: Dot(DeviceID(0), 1), name: nil)
    return .undoStep
  }

  /// The records in the message.
  var changes: [Delta.Change] {
    switch content {
    case .delta(let delta): delta.changes
    case .stored(let replica): replica.delta()?.changes ?? []
    case .exchange(_, _, let part): part.flatMap(\.changes)
    case .vectorClock, .replicaVersion, .token, .undoStep: []
    }
  }

  /// The fields of a record, sorted, some of them only as fragments.
  static func fields(
    of change: Delta.Change
  ) -> [(key: FieldKey, state: FieldState, fragment: Fragment?)] {
    let all =
      change.fields.map { ($0.key, $0.value, nil as Fragment?) }
      + change.fragments.map { ($0.key, $0.value.state, $0.value) }
    return all.sorted { $0.0 < $1.0 }
  }

  /// The intervals of saves that a delta carries, sorted by device.
  var intervals: [(device: DeviceID, interval: Delta.Interval)] {
    if case .exchange(_, _, let part) = content {
      return part.flatMap(\.intervals)
    }
    guard case .delta(let delta) = content else { return [] }
    return delta.intervals.sorted { $0.key < $1.key }
      .map { ($0.key, $0.value) }
  }

  /// The last save of each device that the message knows, sorted by device.
  ///
  /// A vector clock has no times and digests. A delta has intervals instead.
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
    case .exchange(_, let shown, _): shown.flatMap(\.clock)
    case .delta, .undoStep: []
    }
  }

  private static func saves(
    _ clock: ReplicaVersion
  ) -> [(device: DeviceID, save: DeviceSave?, sequence: UInt64)] {
    clock.vectorClock.entries.map { ($0.device, clock[$0.device], $0.count) }
  }
}
