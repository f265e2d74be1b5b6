// SPDX-License-Identifier: Apache-2.0

/// The records of one device, and the version of the saves that it has seen.
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
/// the state for a new device. A replica is not `Sendable`. Isolate it, for
/// example in an actor. Deltas, reports, records and states are `Sendable`
/// values.
public final class Replica: ReadableReplica {
  /// The entities that the app knows.
  public let schema: Schema

  /// A change of the replica's device ID.
  public struct DeviceChange: Hashable, Sendable {
    /// The old ID, which another replica uses or may use.
    public let old: DeviceID
    /// The new ID, which no save used before.
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
  public var undoHistory: UndoHistory {
    get { loadUndoHistory() ? history : UndoHistory() }
    set {
      var new = newValue
      new.recordStored(asIn: history)
      (history, hasChangedUndoHistory) = (new, true)
    }
  }
  /// The undo history, whose steps may not be loaded yet.
  package var history = UndoHistory()
  /// A closure that reads the steps of ``history`` from a store, and returns
  /// those that it can decode.
  ///
  /// It returns `nil` if the store cannot be read now.
  package var readUndoSteps: (() -> [Dot: UndoStep]?)?
  /// Whether the undo history changed since a store last wrote it.
  package var hasChangedUndoHistory = false

  /// Whether a copy of the state or a delta was made.
  ///
  /// A store must then write the restore token, which covers the last save.
  package var hasExported = false

  let wallClock: WallClock
  let makeDeviceID: () -> DeviceID
  /// The state.
  ///
  /// Every mutation calls `_checkInvariants()` at its end.
  package internal(set) var current: ReplicaState

  /// The minimum number of elements, devices or entries of a set, a counter or
  /// a ledger that is sent as fragments.
  package var fragmentSize: Int {
    get { current.fragmentSize }
    set { current.fragmentSize = newValue }
  }

  /// The maximum number of bytes in an encoded record after a save, which tests
  /// lower.
  package var recordByteLimit: Int {
    get { current.recordByteLimit }
    set { current.recordByteLimit = newValue }
  }

  /// Creates an empty replica for a device without saves.
  ///
  /// - Parameters:
  ///   - device: The device ID, which must not have been used before.
  ///   - schema: The entities that the app knows.
  ///   - wallClock: The wall clock.
  ///   - maximumClockSkew: The maximum distance that timestamps of other
  ///     devices can move the replica's clock ahead of the wall clock.
  ///   - makeDeviceID: A closure that returns an ID that was never used. The
  ///     replica calls it when another replica saves under its ID.
  public init(
    device: DeviceID, schema: Schema, wallClock: WallClock,
    maximumClockSkew: Duration = HybridClock.defaultMaximumClockSkew,
    makeDeviceID: @escaping () -> DeviceID
  ) {
    self.schema = schema
    self.makeDeviceID = makeDeviceID
    self.wallClock = wallClock
    current = ReplicaState(
      device: device, hybrid: HybridClock(maximumClockSkew: maximumClockSkew))
  }

  /// Opens a stored replica.
  ///
  /// If the stored history does not contain the token's save, the state is a
  /// backup or a clone. The replica then takes a new device ID, which
  /// ``deviceChange`` reports. Saves that were made after the backup return in
  /// deltas and cannot be confused with new ones. The first save under the new
  /// ID retires the old one.
  ///
  /// - Parameters:
  ///   - state: The last ``state`` that was stored.
  ///   - token: The last ``RestoreToken`` that was stored, or `nil` if it is
  ///     lost.
  ///   - schema: The entities that the app knows.
  ///   - wallClock: The wall clock.
  ///   - makeDeviceID: A closure that returns an ID that was never used.
  /// - Precondition: `makeDeviceID` returns an ID that was never used.
  public init(
    opening state: ReplicaState, token: RestoreToken?, schema: Schema,
    wallClock: WallClock, makeDeviceID: @escaping () -> DeviceID
  ) {
    self.schema = schema
    self.makeDeviceID = makeDeviceID
    current = state
    self.wallClock = wallClock
    recognize(token)
  }

  /// Takes a new device if a stored replica is a backup or a clone.
  ///
  /// - Parameter token: The last stored token, or `nil` if it is lost.
  package func recognize(_ token: RestoreToken?) {
    current.hybrid = HybridClock(
      latest: current.hybrid.latest, now: wallClock.now,
      skewLimit: current.hybrid.skewLimit)
    // Do not compare for equality. After a crash between storing a state and
    // its token, the history goes beyond the token, and the state is not a
    // backup.
    if let token, token.isContained(in: current) {
      current.identity.durableToken = token
    } else {
      let device = makeDeviceID()
      demand(
        current.isUnused(device),
        "`makeDeviceID` returned \(device), which has been used: it must "
          + "return an ID that is new each time")
      takeDevice(device, of: token)
    }
    current._checkInvariants()
  }

  /// Resumes a stored state under its own device, without checking whether it
  /// is a restored backup.
  package init(
    resuming state: ReplicaState, schema: Schema, wallClock: WallClock,
    makeDeviceID: @escaping () -> DeviceID
  ) {
    self.schema = schema
    self.makeDeviceID = makeDeviceID
    current = state
    self.wallClock = wallClock
    current._checkInvariants()
  }

  /// The device ID of the replica's saves.
  public var device: DeviceID { current.device }

  /// The saves that are fully applied here, and the fields that are ahead of
  /// them.
  ///
  /// Send the version to another replica. Its ``delta(since:)`` then returns
  /// the changes that this replica lacks.
  ///
  /// - Complexity: O(*k*), where *k* is the number of fields ahead, usually
  ///   zero.
  public var version: ReplicaVersion { current.shownVersion }

  /// The state that the replica needs when it is opened again.
  ///
  /// - Complexity: O(1). The next change of the replica copies the state.
  public var state: ReplicaState {
    hasExported = true
    return current
  }

  /// The token of the last local save.
  ///
  /// Store it outside all backups, after the ``state`` and before you send
  /// anything.
  ///
  /// - Complexity: O(*s*), where *s* is the number of servers pulled from.
  public var restoreToken: RestoreToken { RestoreToken(current) }

  /// Records that a token is stored outside all backups.
  ///
  /// The replica then keeps the data that it needs to recognize the token when
  /// it is opened, regardless of the number of later saves.
  ///
  /// - Parameter token: A token of this replica, as ``restoreToken`` returned
  ///   it.
  /// - Returns: Whether the token is kept. The replica ignores a token if its
  ///   own history does not contain the token's save, because the token belongs
  ///   to another copy of the device. It also ignores a token that is thousands
  ///   of saves old.
  @discardableResult
  public func confirmTokenStored(_ token: RestoreToken) -> Bool {
    guard token.isContained(in: current) else { return false }
    current.identity.durableToken = token
    current._checkInvariants()
    return true
  }

  /// For each device, the last save that a field has seen beyond ``version``.
  ///
  /// Some effects of these saves are missing because a part of a delta did not
  /// arrive. Request a delta since ``version`` from any replica.
  ///
  /// - Complexity: O(*k*), where *k* is the number of fields ahead of the
  ///   version.
  public var latestMissingSaves: VectorClock { current.latestMissingSaves }

  /// Creates a replica for another device, with the state of this replica.
  ///
  /// Like a delta, the fork contains saves of this replica. Before you create
  /// it, store the state and then the ``restoreToken``.
  ///
  /// - Parameters:
  ///   - device: The ID of the other device.
  ///   - wallClock: The wall clock of the device, or `nil` to use that of this
  ///     replica.
  ///   - makeDeviceID: A closure that returns an ID that was never used, or
  ///     `nil` to use that of this replica.
  /// - Precondition: `device` was never used.
  public func fork(
    as device: DeviceID, wallClock: WallClock? = nil,
    makeDeviceID: (() -> DeviceID)? = nil
  ) -> Replica {
    demand(
      current.isUnused(device),
      "\(device) has been used: fork under a device ID that is new")
    var state = state
    // The fork treats this device like any other device with the same version.
    let held = state.version.vectorClock
    state.stability.record(
      held, of: state.device, holding: held,
      beyond: state.version.stabilityCut, mayPass: true)
    // The fork replaces no device, so its first save must not retire one.
    state.identity = Identity(device)
    return Replica(
      resuming: state, schema: schema, wallClock: wallClock ?? self.wallClock,
      makeDeviceID: makeDeviceID ?? self.makeDeviceID)
  }
}
