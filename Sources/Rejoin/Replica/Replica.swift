// SPDX-License-Identifier: Apache-2.0

/// The records that one device holds, and what it knows of everybody's saves.
///
///     let phone = Replica(
///       device: .init(1), schema: [Profile.self], wallClock: clock,
///       makeDeviceID: newDevice)
///     let tablet = Replica(
///       device: .init(2), schema: [Profile.self], wallClock: clock,
///       makeDeviceID: newDevice)
///     try phone.save { $0[Profile.self, "ada"].steps.increment(by: 1200) }
///     try tablet.save { $0[Profile.self, "ada"].steps.increment(by: 800) }
///     if let delta = phone.delta(since: tablet.clock) { tablet.apply(delta) }
///     tablet[Profile.self, "ada"]?.steps  // 2000
///
/// A replica is an identity and therefore a class: copying it would let two
/// writers save under one ID. ``fork(as:wallClock:makeDeviceID:)`` copies the state
/// for a new device. It is not `Sendable`; the caller owns its isolation, for
/// example by an actor around it. Everything that crosses threads is a value.
public final class Replica {
  /// The entities that the app knows.
  public let schema: Schema

  /// The device IDs before and after the replica took a new one.
  public struct DeviceChange: Hashable, Sendable {
    /// The ID that is in use elsewhere, or may be.
    public let old: DeviceID
    /// The ID that no save has been made under.
    public let new: DeviceID
  }

  /// The last time the replica took a new device since it was opened: because the
  /// stored state was restored or cloned, or because its ID turned out to be in
  /// use elsewhere.
  public internal(set) var deviceChange: DeviceChange?

  let wallClock: WallClock
  let makeDeviceID: () -> DeviceID
  var stored: StoredReplica

  /// Creates an empty replica for a device that has never saved.
  ///
  /// - Parameters:
  ///   - device: The device, which must not have been used before.
  ///   - schema: The entities that the app knows.
  ///   - wallClock: The wall clock.
  ///   - maximumClockSkew: How far other devices can move our timestamps ahead of
  ///     the wall clock.
  ///   - makeDeviceID: Gives an ID that has never been used, for when our own
  ///     turns out to be in use elsewhere.
  public init(
    device: DeviceID, schema: Schema, wallClock: WallClock,
    maximumClockSkew: Duration = HybridClock.defaultMaximumClockSkew,
    makeDeviceID: @escaping () -> DeviceID
  ) {
    self.schema = schema
    self.makeDeviceID = makeDeviceID
    self.wallClock = wallClock
    stored = StoredReplica(
      device: device, hybrid: HybridClock(maximumClockSkew: maximumClockSkew))
  }

  /// Opens a stored replica.
  ///
  /// If the token's save is not in the stored history, the state is a backup or a
  /// clone, and the replica takes a new device, which ``deviceChange`` tells. Saves
  /// of the old incarnation come back by syncing and are never confused with new
  /// ones. The first save retires the old device.
  ///
  /// - Parameters:
  ///   - stored: What ``state`` gave.
  ///   - token: The last ``RestoreToken`` that was stored; `nil` if it is lost.
  ///   - schema: The entities that the app knows.
  ///   - wallClock: The wall clock.
  ///   - makeDeviceID: Gives an ID that has never been used.
  /// - Precondition: `makeDeviceID` gives an ID that has never been used.
  public init(
    opening stored: StoredReplica, token: RestoreToken?, schema: Schema,
    wallClock: WallClock, makeDeviceID: @escaping () -> DeviceID
  ) {
    self.schema = schema
    self.makeDeviceID = makeDeviceID
    self.stored = stored
    self.wallClock = wallClock
    self.stored.hybrid = HybridClock(
      latest: stored.hybrid.latest, now: wallClock.now,
      skewLimit: stored.hybrid.skewLimit)
    if let token, token.isContained(in: stored) {
      self.stored.durableToken = token
      return
    }
    let device = makeDeviceID()
    precondition(
      self.stored.isUnused(device),
      "\(device) has been used: `makeDeviceID` must give an ID that is new")
    takeDevice(device)
  }

  /// Resumes a stored state, under the same device.
  package init(
    resuming stored: StoredReplica, schema: Schema, wallClock: WallClock,
    makeDeviceID: @escaping () -> DeviceID
  ) {
    self.schema = schema
    self.makeDeviceID = makeDeviceID
    self.stored = stored
    self.wallClock = wallClock
  }

  /// The device under which the replica saves.
  public var device: DeviceID { stored.device }

  /// What to show another replica, so that it can tell what is missing here.
  ///
  /// - Complexity: O(1), and O(*k*) where *k* fields are ahead of it.
  public var version: ReplicaVersion { stored.shownVersion }

  /// Everything the replica has to keep between launches.
  ///
  /// - Complexity: O(1); the state is copied when the replica changes next.
  public var state: StoredReplica { stored }

  /// Names the last own save; store it outside every backup, after the state and
  /// before anything is sent.
  public var restoreToken: RestoreToken { RestoreToken(stored) }

  /// Says that a token is stored where no backup reaches.
  ///
  /// What is needed to recognize it is then kept, however many saves follow.
  public func tokenStored(_ token: RestoreToken) {
    if token.device == device { stored.durableToken = token }
  }

  /// The saves known to be missing: for each device, the last one.
  ///
  /// A field has seen them, and they are not all here: a part of a delta has not
  /// arrived. Ask anyone for a delta since ``clock``.
  ///
  /// - Complexity: O(*k*) for the *k* fields that have seen them.
  public var missingSaves: VectorClock { stored.missingSaves }

  /// A new replica with this one's state, for another device.
  ///
  /// - Parameters:
  ///   - device: The device.
  ///   - wallClock: Its wall clock, where that is another.
  ///   - makeDeviceID: Gives an ID that has never been used, where that is to be
  ///     another function.
  /// - Precondition: The device has never saved.
  public func fork(
    as device: DeviceID, wallClock: WallClock? = nil,
    makeDeviceID: (() -> DeviceID)? = nil
  ) -> Replica {
    precondition(
      stored.isUnused(device),
      "\(device) has been used; fork as a device that is new")
    var state = stored
    state.stability.note(
      state.version.vector, of: state.device, holding: state.version.vector)
    state.become(device)
    // It stands beside this replica, and takes nobody's place.
    state.predecessor = nil
    return Replica(
      resuming: state, schema: schema, wallClock: wallClock ?? self.wallClock,
      makeDeviceID: makeDeviceID ?? self.makeDeviceID)
  }
}
