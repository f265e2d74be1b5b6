// SPDX-License-Identifier: Apache-2.0

/// The complete shared state of a replica at one moment.
///
///     let bytes = phone.encoded()
///     let snapshot = try ReplicaSnapshot(decoding: bytes)
///     tablet.apply(snapshot.delta)
///
/// Replicas with the same saves have equal snapshots and equal bytes, unless
/// they fold their ledgers to different depths. To keep a replica between
/// launches, use a ``ReplicaState``.
public struct ReplicaSnapshot: Hashable, Sendable {
  /// The content, as a delta since the empty version.
  public let delta: Delta

  /// Decodes a snapshot.
  ///
  /// - Throws: ``WireError``, with the offset and the expected content.
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  public init(
    decoding bytes: some Sequence<UInt8>
  ) throws(WireError) {
    delta = Delta(try ValidatedMessage(Array(bytes), as: [.snapshot]))
  }

  /// Creates a snapshot of a replica.
  public init(of replica: Replica) {
    let state = replica.state
    self.init(state.content, state.intervals)
  }

  private init(
    _ content: MessageContent, _ intervals: [DeviceID: SaveInterval]
  ) {
    delta = Delta(MessageWriter(content, intervals, as: .snapshot).sealed())
  }

  /// The saves whose effects the replica contained in full.
  public var version: ReplicaVersion {
    var clock = ReplicaVersion()
    for (device, interval) in delta.intervals {
      clock.insert(interval.to, of: device)
    }
    return clock
  }

  /// Returns the snapshot as bytes.
  public func encoded() -> [UInt8] { delta.message.bytes }

  /// The snapshot with every ledger folded into sums.
  ///
  /// Each replica decides how far to fold its ledgers. If all ledgers are
  /// folded, replicas with the same saves have equal bytes.
  public var foldingLedgers: ReplicaSnapshot {
    let changes = delta.changes.map { change in
      Delta.Change(id: change.id, fields: change.fields.mapValues(\.folded))
    }
    return ReplicaSnapshot(MessageContent(changes), delta.intervals)
  }
}

extension FieldState {
  fileprivate var folded: FieldState {
    var folded = self
    _ = folded.change(Ledger.self) { $0.reshape { $0.foldAll() } }
    return folded
  }
}

extension Replica {
  /// Returns the complete shared state of the replica as bytes.
  ///
  /// Replicas with the same saves have equal bytes, in every process and on
  /// every machine, unless they fold their ledgers to different depths.
  ///
  /// - Parameter foldingLedgers: Whether to write only the sums of ledgers. Use
  ///   `true` to compare replicas that may fold them to different depths.
  public func encoded(foldingLedgers: Bool = false) -> [UInt8] {
    let snapshot = ReplicaSnapshot(of: self)
    let hasLedgers = current.names.contains(.ledger)
    return foldingLedgers && hasLedgers
      ? snapshot.foldingLedgers.encoded() : snapshot.encoded()
  }
}
