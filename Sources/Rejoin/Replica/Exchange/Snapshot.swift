// SPDX-License-Identifier: Apache-2.0

/// Everything that a replica shares, at one moment.
///
///     let bytes = phone.encoded()
///     let snapshot = try Snapshot(decoding: bytes)
///     tablet.apply(snapshot.delta)
///
/// Replicas that hold the same saves give the same bytes, apart from what each has
/// folded of its ledgers. What an app keeps between launches is a
/// ``StoredReplica``.
public struct Snapshot: Hashable, Sendable {
  /// The content, to be joined to another replica: a delta from nothing.
  public let delta: Delta

  /// Reads a snapshot.
  ///
  /// - Throws: ``WireError``, with the place and what should have been there.
  /// - Complexity: O(*n*) for *n* bytes.
  public init(
    decoding bytes: some Sequence<UInt8>
  ) throws(WireError) {
    delta = Delta(try EncodedMessage(checking: Array(bytes), as: .snapshot))
  }

  /// Takes what a replica shares.
  public init(of replica: Replica) {
    delta = replica.delta() ?? Delta(changes: [], intervals: [:])
  }

  private init(_ delta: Delta) { self.delta = delta }

  /// What the replica held every effect of.
  public var version: ReplicaVersion {
    var clock = ReplicaVersion()
    for (device, interval) in delta.intervals {
      clock.insert(interval.to, of: device)
    }
    return clock
  }

  /// The snapshot as bytes.
  public func encoded() -> [UInt8] { delta.encoded(as: .snapshot) }

  /// The snapshot with every ledger folded into sums.
  ///
  /// How much of its ledgers a replica has folded is its own business. With all of
  /// them folded, replicas that hold the same saves give the same bytes.
  public var foldingLedgers: Snapshot {
    let changes = delta.changes.map { change in
      Delta.Change(id: change.id, fields: change.fields.mapValues(\.folded))
    }
    return Snapshot(Delta(changes: changes, intervals: delta.intervals))
  }
}

extension FieldState {
  fileprivate var folded: FieldState {
    guard case .ledger(var field) = self else { return self }
    field.reshape { $0.foldAll() }
    return .ledger(field)
  }
}

extension Replica {
  /// Everything the replica shares, as bytes.
  ///
  /// Replicas that hold the same saves give the same bytes, in every process and
  /// on every machine, apart from what each has folded of its ledgers.
  ///
  /// - Parameter foldingLedgers: Whether the entries of ledgers are left out, and
  ///   only their sums written: for comparing replicas that may have folded.
  public func encoded(foldingLedgers: Bool = false) -> [UInt8] {
    let snapshot = Snapshot(of: self)
    return (foldingLedgers ? snapshot.foldingLedgers : snapshot).encoded()
  }
}
