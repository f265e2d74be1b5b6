// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// A replica that the checkers drive: the library's, or a broken one that they
/// must reject.
public protocol TestedReplica {
  /// The delta that one replica sends another.
  associatedtype Message: Hashable
  /// A record as an editing context shows it.
  associatedtype Fetched
  /// The content that is equal on replicas with the same saves.
  associatedtype Contents: Hashable
  /// The token that is stored outside all backups, to detect a restored backup.
  associatedtype Token

  /// Whether messages may contain fragments.
  ///
  /// A message with fragments depends on more than the saves that the replica
  /// has.
  static var sendsFragments: Bool { get }

  /// Creates an empty replica.
  ///
  /// - Parameters:
  ///   - device: The replica's device ID.
  ///   - schema: The schema of the records.
  ///   - makeDeviceID: A closure that returns a new device ID, for a replica
  ///     that learns that another one uses its ID.
  init(device: DeviceID, schema: Schema, makeDeviceID: @escaping () -> DeviceID)

  /// Returns a replica with the same state and device ID, like a backup.
  func copy() -> Self
  /// Returns a replica with the same state and another device ID.
  func forked(as device: DeviceID, makeDeviceID: @escaping () -> DeviceID)
    -> Self

  /// The device ID of the next save.
  var device: DeviceID { get }
  /// The saves that the replica claims to hold.
  var version: ReplicaVersion { get }
  /// The last timestamp that the replica created or received, or `nil` if it
  /// does not report one.
  var latest: Timestamp? { get }
  /// The content that must equal that of replicas with the same saves.
  var contents: Contents { get }

  /// The stored bytes, if they contain more than the oracle models.
  var storedBytes: [UInt8] { get }
  /// The library's replica, which decides what a call of `sync` sends, or `nil` for
  /// replicas without calls.
  var calling: Rejoin.Replica? { get }
  /// Returns whether a record exists.
  func exists(_ id: RecordID) -> Bool
  /// Reads a field.
  func reading(of location: FieldLocation) -> FieldReading
  /// Reads a field like a later version of the app that declares it with
  /// another kind, or returns `nil` if the replica does not support this.
  func laterReading(of location: FieldLocation) -> LaterReading?

  /// Compares the lists of some records with the readings of each record.
  ///
  /// - Parameter pages: Whether to check the pages of the list and the
  ///   conflicts as well.
  func checkListing(
    _ records: [RecordID], pages: Bool, named name: String
  ) throws(ScriptMismatch)

  /// Checks that a form can assign the fields of a record as they read, in
  /// other versions of the app, and that this changes no value.
  func checkWritingBack(
    _ id: RecordID, _ keys: [FieldKey], named name: String
  ) throws(ScriptMismatch)

  /// Checks that the report on the changes of another replica is the same for
  /// whole fields and for fragments.
  func checkReports(
    from sender: Self, now: Int64, named name: String
  ) throws(ScriptMismatch)

  /// Saves some verbs.
  ///
  /// - Returns: The dot of the save, or `nil` if there was nothing to save.
  mutating func save(_ verbs: [ScriptVerb], now: Int64) throws -> Dot?
  /// Fetches a record for a later edit.
  func fetch(_ id: RecordID) -> Fetched
  /// Saves edits of a record that was fetched earlier.
  mutating func save(
    _ edits: [FieldKey: FieldEdit], of id: RecordID, shown: Fetched,
    with company: ScriptCompany, now: Int64
  ) throws -> Dot?

  /// Returns the changes that `basis` has not seen, or `nil` if it has seen
  /// all.
  func message(since basis: ReplicaVersion) -> Message?
  /// Returns the changes of the first records that `basis` has not seen.
  ///
  /// - Parameter byteLimit: The approximate maximum of bytes. A part contains
  ///   at least one record.
  func part(since basis: ReplicaVersion, byteLimit: Int) -> Message?
  /// Splits a message into parts.
  func parts(of message: Message, count: Int) -> [Message]
  /// Returns the fields and the intervals of a message.
  func outline(of message: Message) -> MessageOutline
  /// Returns a message as it arrives, decoded from its bytes if it has any.
  ///
  /// - Throws: A mismatch if the bytes are wrong.
  static func arrival(of message: Message) throws(ScriptMismatch) -> Message
  /// Applies a message.
  mutating func apply(_ message: Message, now: Int64) -> MessageReceipt
  /// Records the version of another replica.
  ///
  /// - Throws: A mismatch if the bytes of the version are wrong.
  mutating func recordVersion(of other: Self, now: Int64) throws(ScriptMismatch)
  /// Records a version that may be forged.
  mutating func recordVersion(
    _ version: ReplicaVersion, of device: DeviceID, now: Int64)

  /// The saves that every device is known to have.
  var stabilityCut: VectorClock { get }
  /// Drops the content of deleted records whose deletion is stable.
  mutating func purge(now: Int64) throws -> Dot?
  /// Folds ledgers below the stability cut.
  mutating func fold()
  /// The devices that the installation saved under, or `nil` if the replica does
  /// not list them.
  var ownDevices: Set<DeviceID>? { get }

  /// The token for the current state.
  var restoreToken: Token { get }

  /// Confirms that a token is stored outside all backups.
  ///
  /// - Returns: Whether the replica's history contains the token's save.
  mutating func confirmTokenStored(_ token: Token) -> Bool

  /// Closes the replica and opens its stored state.
  ///
  /// The replica takes a new device ID unless its history contains the token.
  ///
  /// - Throws: A mismatch if the stored bytes are wrong.
  mutating func reopen(with token: Token?, now: Int64) throws(ScriptMismatch)

  /// Deletes a record that was fetched earlier.
  mutating func delete(
    _ id: RecordID, shown: Fetched, with company: ScriptCompany, now: Int64
  ) throws -> Dot?

  /// Undoes the last undoable save, or redoes the last undone one.
  mutating func undo(again: Bool, now: Int64) throws -> UndoneSave

  /// The saves that can be undone and redone.
  var history: UndoHistory { get }

  /// Imports rows that every device already has.
  ///
  /// - Returns: The dot that equal rows have on all devices, even if the rows
  ///   are already imported.
  mutating func bringIn(_ rows: [ScriptVerb], now: Int64) throws -> Dot?

  /// Imports rows of a server that does not use CRDTs.
  ///
  /// - Returns: The dot of the save, or `nil` if no row was new.
  mutating func pull(
    _ rows: [ScriptVerb], from server: String, modifiedAt time: Int64,
    now: Int64
  ) throws -> Dot?
  /// Retires a device.
  ///
  /// - Returns: The dot of the save, or `nil` if the replica does not support
  ///   retirement.
  mutating func retire(_ device: DeviceID, now: Int64) throws -> Dot?
}

// Defaults for replicas that do not support everything.
extension TestedReplica {
  /// Returns `false`: messages contain only whole fields.
  public static var sendsFragments: Bool { false }

  /// Returns `nil`: the replica does not report a timestamp.
  public var latest: Timestamp? { nil }

  /// Returns `nil`: the replica does not list them.
  public var ownDevices: Set<DeviceID>? { nil }

  /// Returns `nil`: calls become exchanges.
  public var calling: Rejoin.Replica? { nil }

  /// Returns an empty array: the oracle models the whole state.
  public var storedBytes: [UInt8] { [] }

  /// Does nothing.
  public mutating func recordVersion(
    _ version: ReplicaVersion, of device: DeviceID, now: Int64
  ) {}

  /// Does nothing.
  public func checkListing(
    _ records: [RecordID], pages: Bool, named name: String
  ) throws(ScriptMismatch) {}

  /// Does nothing.
  public func checkWritingBack(
    _ id: RecordID, _ keys: [FieldKey], named name: String
  ) throws(ScriptMismatch) {}

  /// Does nothing, since each message has only one form.
  public func checkReports(
    from sender: Self, now: Int64, named name: String
  ) throws(ScriptMismatch) {}

  /// Returns all changes, which is only correct if no script has transfers in
  /// parts.
  public func part(since basis: ReplicaVersion, byteLimit: Int) -> Message? {
    message(since: basis)
  }

  /// Returns an undo without a save.
  public mutating func undo(again: Bool, now: Int64) throws -> UndoneSave {
    UndoneSave()
  }

  /// Returns an empty history.
  public var history: UndoHistory { UndoHistory() }
  public func laterReading(of location: FieldLocation) -> LaterReading? { nil }

  /// Returns `nil` without importing the rows.
  public mutating func bringIn(
    _ rows: [ScriptVerb], now: Int64
  ) throws -> Dot? { nil }

  /// Returns `nil` without importing the rows.
  public mutating func pull(
    _ rows: [ScriptVerb], from server: String, modifiedAt time: Int64,
    now: Int64
  ) throws -> Dot? { nil }

  /// Returns the message itself.
  public static func arrival(of message: Message) -> Message { message }
}

/// The observable content of a message.
public struct MessageOutline {
  /// The changed fields, including the fields with fragments.
  public var fields: Set<FieldLocation>
  /// The claims of the fragments.
  public var fragments: [FieldLocation: Fragment] = [:]
  /// The unseen saves of each device.
  public var intervals: [DeviceID: Interval]
  /// The times of the last saves of the intervals.
  public var times: [DeviceID: Timestamp] = [:]
  /// The records of a part, or `nil` if the message covers all records.
  ///
  /// The part starts after `after` and ends with `through`.
  public var range: (after: RecordID?, through: RecordID?)?

  /// The saves of a device after `from` and up to `to`.
  public struct Interval: Hashable {
    /// The last save before the interval.
    public let from: UInt64
    /// The last save in the interval.
    public let to: UInt64

    /// Creates an interval.
    ///
    /// If the replica is correct, `from` is less than `to`.
    public init(from: UInt64, to: UInt64) { (self.from, self.to) = (from, to) }
  }

  /// The claims of a fragment.
  public struct Fragment: Hashable {
    /// The field's saves that a receiver has seen after it accepts the
    /// fragment.
    public let clock: VectorClock
    /// The saves that the receiver must hold.
    public let basis: VectorClock
    /// Whether a receiver accepts or refuses the fragment as a whole.
    public let isWhole: Bool

    /// Creates the claims of a fragment.
    public init(clock: VectorClock, basis: VectorClock, isWhole: Bool) {
      (self.clock, self.basis, self.isWhole) = (clock, basis, isWhole)
    }
  }

  /// Creates an outline of a message.
  public init(
    fields: Set<FieldLocation>, fragments: [FieldLocation: Fragment] = [:],
    intervals: [DeviceID: Interval]
  ) {
    (self.fields, self.intervals) = (fields, intervals)
    self.fragments = fragments
  }
}

/// The result of an undo or a redo.
public struct UndoneSave {
  /// The dot of the save that performed the undo, or `nil` if there was nothing
  /// to save.
  public let dot: Dot?
  /// The save that was undone, or `nil` for an empty history.
  let undone: Dot?
  /// The fields that the undo changes, by record.
  let reversals: [RecordID: [FieldKey: FieldReversal]]

  /// Creates a result for an empty history.
  public init() { (dot, undone, reversals) = (nil, nil, [:]) }

  init(
    of undone: Dot?, _ reversals: [RecordID: [FieldKey: FieldReversal]],
    at dot: Dot?
  ) {
    (self.dot, self.undone) = (dot, undone)
    self.reversals = reversals.mapValues { $0.filter { !$1.isEmpty } }
      .filter { !$1.isEmpty }
  }
}

/// The reported effect of a message.
public struct MessageReceipt {
  /// The devices whose saves have a gap.
  public var gaps: Set<DeviceID> = []
  /// The devices whose contributions were refused, by field.
  public var refusals: [FieldLocation: Set<DeviceID>] = [:]
  /// The dots that two different saves use.
  public var equivocations: Set<Dot> = []
  /// The retired devices that returned to the roster.
  public var returned: Set<DeviceID> = []
  /// The devices that the message revealed as forked.
  public var forked: Set<DeviceID> = []
  /// Whether the message changed the replica, so another part may follow.
  public var hasAdvanced = true
  /// The effect on records, or `nil` if the replica does not report it.
  public var existence: ExistenceReceipt?

  /// Creates a receipt without faults.
  public init() {}
}
