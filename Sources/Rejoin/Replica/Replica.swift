//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// The records that one device holds, and what it knows of everybody's saves.
///
///     let phone = Replica(device: .init(1), schema: [Profile.self], clock: clock)
///     let tablet = Replica(device: .init(2), schema: [Profile.self], clock: clock)
///     try phone.save { $0[Profile.self, "ada"].steps.increment(by: 1200) }
///     try tablet.save { $0[Profile.self, "ada"].steps.increment(by: 800) }
///     if let delta = phone.delta(since: tablet.clock) { tablet.apply(delta) }
///     tablet[Profile.self, "ada"]?.steps  // 2000
///
/// A replica is an identity and therefore a class: copying it would let two
/// writers save under one name. ``fork(as:clock:renewal:)`` copies the state for a new device.
/// It is not `Sendable`; the caller owns its isolation, for example by an actor
/// around it. Everything that crosses threads is a value.
public final class Replica {
  /// The entities that the app knows.
  public let schema: Schema

  let wallClock: WallClock
  let renewal: (() -> DeviceID)?
  var stored: StoredReplica

  /// Creates an empty replica for a device that has never saved.
  ///
  /// - Parameters:
  ///   - device: The device, which must not have been used before.
  ///   - schema: The entities that the app knows.
  ///   - clock: The wall clock.
  ///   - drag: How far others can draw our timestamps ahead of the wall clock, in
  ///     milliseconds.
  ///   - renewal: Gives a device that has never been used, when our own turns out
  ///     to be in use elsewhere. Without it, saving throws then.
  public init(
    device: DeviceID, schema: Schema, clock: WallClock,
    drag: Int64 = HybridClock.defaultDrag, renewal: (() -> DeviceID)? = nil
  ) {
    self.schema = schema
    self.renewal = renewal
    wallClock = clock
    stored = StoredReplica(device: device, hybrid: HybridClock(drag: drag))
  }

  /// Opens a stored replica.
  ///
  /// If `token` is not the one of the last save, the stored state is a backup or a
  /// clone, and the replica takes a new device before its first save. Saves of the
  /// old incarnation come back by syncing and are never confused with new ones.
  ///
  /// - Parameters:
  ///   - stored: What ``state`` gave.
  ///   - token: What ``token`` gave when that state was persisted, kept outside
  ///     every backup; `nil` if it is not there.
  ///   - schema: The entities that the app knows.
  ///   - clock: The wall clock.
  ///   - renewal: Gives a device that has never been used.
  public init(
    opening stored: StoredReplica, token: RestoreToken?, schema: Schema,
    clock: WallClock, renewal: @escaping () -> DeviceID
  ) {
    self.schema = schema
    self.renewal = renewal
    self.stored = stored
    wallClock = clock
    self.stored.hybrid = HybridClock(
      latest: stored.hybrid.latest, now: clock.now, drag: stored.hybrid.drag)
    if token != RestoreToken(stored) {
      let device = renewal()
      precondition(
        device != stored.device && stored.clock[device].n == 0,
        "\(device) has been used; `renewal` must give a device that is new")
      self.stored.device = device
      self.stored.mustRenew = false
      self.stored.ownDigests = []
    }
  }

  /// Goes on with a state as it is, under the same device.
  package init(
    resuming stored: StoredReplica, schema: Schema, clock: WallClock,
    renewal: @escaping () -> DeviceID
  ) {
    self.schema = schema
    self.renewal = renewal
    self.stored = stored
    wallClock = clock
  }

  private init(
    copying other: Replica, as device: DeviceID, clock: WallClock,
    renewal: (() -> DeviceID)?
  ) {
    schema = other.schema
    wallClock = clock
    self.renewal = renewal
    stored = other.stored
    stored.acknowledged[stored.device] = stored.clock.vector
    stored.device = device
    stored.mustRenew = false
    stored.ownDigests = []
  }

  /// The device under which the replica saves.
  public var device: DeviceID { stored.device }

  /// What the replica holds every effect of.
  public var clock: ReplicaClock { stored.clock }

  /// Everything the replica has to keep between launches.
  ///
  /// - Complexity: O(1); the state is copied when the replica changes next.
  public var state: StoredReplica { stored }

  /// Names the last save; keep it outside every backup.
  public var token: RestoreToken { RestoreToken(stored) }

  /// The saves known to be missing: of each device, the last one.
  public var missing: VectorClock {
    var missing = VectorClock()
    for (device, n) in stored.missing where n > stored.clock[device].n {
      missing[device] = n
    }
    return missing
  }

  /// A new replica with this one's state, for another device.
  ///
  /// - Parameters:
  ///   - device: The device.
  ///   - clock: Its wall clock, where that is another.
  ///   - renewal: Gives a device that has never been used, as in
  ///     ``init(device:schema:clock:drag:renewal:)``.
  /// - Precondition: The device has never saved.
  public func fork(
    as device: DeviceID, clock: WallClock? = nil,
    renewal: (() -> DeviceID)? = nil
  ) -> Replica {
    precondition(
      device != stored.device && stored.clock[device].n == 0,
      "\(device) has been used; fork as a device that is new")
    return Replica(
      copying: self, as: device, clock: clock ?? wallClock,
      renewal: renewal ?? self.renewal)
  }
}
