// SPDX-License-Identifier: Apache-2.0

/// A replica: the records that one device holds, and the version of what it has
/// seen.
///
///     let phone = Replica(
///       device: .init(1), schema: [Profile.self], wallClock: clock,
///       makeDeviceID: newDevice)
///     let tablet = Replica(
///       device: .init(2), schema: [Profile.self], wallClock: clock,
///       makeDeviceID: newDevice)
///     try phone.save { $0[Profile.self, "ada"].steps.increment(by: 1200) }
///     try tablet.save { $0[Profile.self, "ada"].steps.increment(by: 800) }
///     if let delta = phone.delta(since: tablet.version) {
///       tablet.apply(delta)
///     }
///     tablet[Profile.self, "ada"]?.steps  // 2000
///
/// A replica has an identity and is therefore a class: a copy would be a second
/// writer under the same device ID. ``fork(as:wallClock:makeDeviceID:)`` copies
/// the state for a new device. A replica is not `Sendable`; isolate it, for
/// example in an actor. Deltas, reports, records and states are `Sendable`
/// values.
public final class Replica {
  /// The entities that the app knows.
  public let schema: Schema

  /// A change of the replica's device ID.
  public struct DeviceChange: Hashable, Sendable {
    /// The ID that is, or may be, in use elsewhere.
    public let old: DeviceID
    /// The ID under which no save has been made before.
    public let new: DeviceID
    /// The number of the last save under the old ID that this replica stored,
    /// or zero if it stored none.
    public let lastStored: UInt64
    /// The number of the last save under the old ID that may have been sent, or
    /// `nil` if the token is lost.
    ///
    /// If the number is greater than ``lastStored``, the saves between the two
    /// are missing in this replica. They return from the devices that have
    /// them.
    public let lastSent: UInt64?
  }

  /// The last change of the device ID since the replica was opened.
  ///
  /// The replica takes a new ID when the stored state turns out to be a
  /// restored backup or a clone, or when another replica saves under its ID.
  public internal(set) var deviceChange: DeviceChange?

  /// The saves that can be undone and redone.
  ///
  /// It is not part of ``state``.
  public var undoHistory = UndoHistory() {
    didSet { hasChangedUndoHistory = true }
  }
  /// Whether the undo history changed since a store last wrote it.
  package var hasChangedUndoHistory = false

  /// Whether a copy of the state or a delta was made.
  ///
  /// A store must then write the restore token, which covers the last save.
  package var hasExported = false

  let wallClock: WallClock
  let makeDeviceID: () -> DeviceID
  /// The state; `_checkInvariants()` is called on it after every mutation.
  package internal(set) var stored: ReplicaState

  /// From how many elements, devices or entries on a set, a counter or a ledger
  /// travels as fragments.
  package var fragmentSize: Int {
    get { stored.fragmentSize }
    set { stored.fragmentSize = newValue }
  }

  /// Creates an empty replica for a device that has never saved.
  ///
  /// - Parameters:
  ///   - device: The device ID, which must not have been used before.
  ///   - schema: The entities that the app knows.
  ///   - wallClock: The wall clock.
  ///   - maximumClockSkew: How far other devices' timestamps can move ours
  ///     ahead of the wall clock.
  ///   - makeDeviceID: Returns an ID that has never been used. It is called
  ///     when another replica saves under ours.
  public init(
    device: DeviceID, schema: Schema, wallClock: WallClock,
    maximumClockSkew: Duration = HybridClock.defaultMaximumClockSkew,
    makeDeviceID: @escaping () -> DeviceID
  ) {
    self.schema = schema
    self.makeDeviceID = makeDeviceID
    self.wallClock = wallClock
    stored = ReplicaState(
      device: device, hybrid: HybridClock(maximumClockSkew: maximumClockSkew))
  }

  /// Opens a stored replica.
  ///
  /// If the stored history does not contain the token's save, the state is a
  /// backup or a clone. The replica then takes a new device ID, see
  /// ``deviceChange``. Saves that were made after the backup come back by
  /// exchanging deltas and cannot be confused with new ones. The first save
  /// under the new ID retires the old one.
  ///
  /// - Parameters:
  ///   - stored: The last ``state`` that was stored.
  ///   - token: The last ``RestoreToken`` that was stored; `nil` if it is lost.
  ///   - schema: The entities that the app knows.
  ///   - wallClock: The wall clock.
  ///   - makeDeviceID: Returns an ID that has never been used.
  /// - Precondition: `makeDeviceID` returns an ID that has never been used.
  public init(
    opening stored: ReplicaState, token: RestoreToken?, schema: Schema,
    wallClock: WallClock, makeDeviceID: @escaping () -> DeviceID
  ) {
    self.schema = schema
    self.makeDeviceID = makeDeviceID
    self.stored = stored
    self.wallClock = wallClock
    self.stored.hybrid = HybridClock(
      latest: stored.hybrid.latest, now: wallClock.now,
      skewLimit: stored.hybrid.skewLimit)
    // Not equality: after a crash between storing a state and its token, the
    // history goes beyond the token, and the state is no backup.
    if let token, token.isContained(in: stored) {
      self.stored.identity.durableToken = token
    } else {
      let device = makeDeviceID()
      precondition(
        self.stored.isUnused(device),
        "`makeDeviceID` returned \(device), which has been used: it must "
          + "return an ID that is new each time")
      takeDevice(device, of: token)
    }
    self.stored._checkInvariants()
  }

  /// Resumes a stored state under its own device, without looking for a
  /// restore.
  package init(
    resuming stored: ReplicaState, schema: Schema, wallClock: WallClock,
    makeDeviceID: @escaping () -> DeviceID
  ) {
    self.schema = schema
    self.makeDeviceID = makeDeviceID
    self.stored = stored
    self.wallClock = wallClock
    self.stored._checkInvariants()
  }

  /// The device under which the replica saves.
  public var device: DeviceID { stored.device }

  /// The saves that are fully applied here, and the fields that are ahead of
  /// them.
  ///
  /// Send it to another replica, whose ``delta(since:)`` is then what is
  /// missing here.
  ///
  /// - Complexity: O(*k*), where *k* is the number of fields ahead, usually
  ///   zero.
  public var version: ReplicaVersion { stored.shownVersion }

  /// Everything the replica has to keep between launches.
  ///
  /// - Complexity: O(1); the next change of the replica copies the state.
  public var state: ReplicaState {
    hasExported = true
    return stored
  }

  /// Identifies the last local save.
  ///
  /// Store it outside every backup, after the ``state`` and before sending
  /// anything.
  ///
  /// - Complexity: O(*s*), where *s* is the number of servers pulled from.
  public var restoreToken: RestoreToken { RestoreToken(stored) }

  /// Records that a token is stored outside every backup.
  ///
  /// The replica then keeps what it needs to recognize the token on opening,
  /// however many saves follow.
  ///
  /// - Parameter token: A token of this replica, as ``restoreToken`` returned it.
  /// - Returns: Whether the token is kept. It is ignored if this replica's history
  ///   does not contain its save, because it belongs to another copy of the device.
  ///   It is also ignored if it is thousands of saves old.
  @discardableResult
  public func confirmTokenStored(_ token: RestoreToken) -> Bool {
    guard token.isContained(in: stored) else { return false }
    stored.identity.durableToken = token
    stored._checkInvariants()
    return true
  }

  /// For each device, the last save that a field has seen beyond ``version``.
  ///
  /// Some effects of these saves are missing, because a part of a delta has not
  /// arrived. Ask any replica for a delta since ``version``.
  ///
  /// - Complexity: O(*k*) for *k* fields ahead of the version.
  public var latestMissingSaves: VectorClock { stored.latestMissingSaves }

  /// Creates a replica with this one's state for another device.
  ///
  /// What this replica has saved leaves it, as with a delta: store the state and
  /// then the ``restoreToken`` first.
  ///
  /// - Parameters:
  ///   - device: The ID of the other device.
  ///   - wallClock: Its wall clock; `nil` means that of this replica.
  ///   - makeDeviceID: Returns an ID that has never been used; `nil` means the
  ///     function of this replica.
  /// - Precondition: `device` has never been used.
  public func fork(
    as device: DeviceID, wallClock: WallClock? = nil,
    makeDeviceID: (() -> DeviceID)? = nil
  ) -> Replica {
    precondition(
      stored.isUnused(device),
      "\(device) has been used: fork under a device ID that is new")
    var state = state
    // To the fork this device is one of the others, with the same version.
    state.stability.note(
      state.version.vectorClock, of: state.device,
      holding: state.version.vectorClock)
    // The fork replaces no device, so its first save must not retire one.
    state.identity = Identity(device)
    return Replica(
      resuming: state, schema: schema, wallClock: wallClock ?? self.wallClock,
      makeDeviceID: makeDeviceID ?? self.makeDeviceID)
  }
}
