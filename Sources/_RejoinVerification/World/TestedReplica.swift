// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// A replica as the checkers drive it: the library's own, or a broken one that
/// they must reject.
public protocol TestedReplica {
  /// The delta that one replica sends another.
  associatedtype Message: Hashable
  /// A record as an editing context shows it.
  associatedtype Fetched
  /// Everything that replicas with the same saves must agree on.
  associatedtype Contents: Hashable
  /// The token that is stored outside every backup, to detect a restored one.
  associatedtype Token

  /// Whether its messages may have fragments, so that what it sends depends on
  /// more than the saves it has heard of.
  static var sendsFragments: Bool { get }

  /// Creates an empty replica.
  ///
  /// - Parameters:
  ///   - device: The replica's device.
  ///   - schema: What its records are.
  ///   - makeDeviceID: Gives a device that is new, when the replica learns that its own
  ///     is in use elsewhere.
  init(device: DeviceID, schema: Schema, makeDeviceID: @escaping () -> DeviceID)

  /// Another replica with the same state and the same device, as a backup is.
  func copy() -> Self
  /// Another replica with the same state, for another device.
  func forked(as device: DeviceID, makeDeviceID: @escaping () -> DeviceID)
    -> Self

  /// The device that saves next.
  var device: DeviceID { get }
  /// The saves that the replica claims to hold.
  var version: ReplicaVersion { get }
  /// The last timestamp given out or learned; `nil` if the replica does not tell.
  var latest: Timestamp? { get }
  /// What replicas with the same saves must agree on.
  var contents: Contents { get }

  /// Everything that is stored, where there is more than the oracle knows.
  var stored: [UInt8] { get }
  /// Whether a record exists.
  func exists(_ id: RecordID) -> Bool
  /// Reads a field.
  func reading(of path: FieldPath) -> FieldReading
  /// Reads a field as a later version of the app that declares it under another kind,
  /// or returns `nil` if the replica does not tell.
  func laterReading(of path: FieldPath) -> LaterReading?

  /// Compares what is listed of some records with what is read of each.
  ///
  /// - Parameter pages: Whether to read the list page by page, too, and the
  ///   conflicts.
  func checkListing(
    _ records: [RecordID], pages: Bool, named name: String
  ) throws(ScriptMismatch)

  /// Saves what the verbs say.
  ///
  /// - Returns: The dot; `nil` if there was nothing to save.
  mutating func save(_ verbs: [ScriptVerb], now: Int64) throws -> Dot?
  /// Fetches a record for a later edit.
  func fetch(_ id: RecordID) -> Fetched
  /// Saves edits of a record as it was shown.
  mutating func save(
    _ edits: [FieldKey: FieldEdit], of id: RecordID, shown: Fetched,
    with company: ScriptCompany, now: Int64
  ) throws -> Dot?

  /// The changes in this replica that `basis` has not seen.
  func message(since basis: ReplicaVersion) -> Message?
  /// The first of these changes, of one record at least.
  ///
  /// - Parameter byteLimit: How many bytes there should be.
  func part(since basis: ReplicaVersion, byteLimit: Int) -> Message?
  /// Cuts a message into parts.
  func parts(of message: Message, count: Int) -> [Message]
  /// The fields in a message and its intervals.
  func outline(of message: Message) -> MessageOutline
  /// A message as it arrives: by way of its bytes, where it has some.
  ///
  /// - Throws: What is wrong with the bytes.
  static func arrival(of message: Message) throws(ScriptMismatch) -> Message
  /// Applies a message.
  mutating func apply(_ message: Message, now: Int64) -> MessageReceipt
  /// Records the version of another replica.
  ///
  /// - Throws: What is wrong with the bytes.
  mutating func recordVersion(of other: Self, now: Int64) throws(ScriptMismatch)
  /// Records a version that may be forged.
  mutating func recordVersion(
    _ version: ReplicaVersion, of device: DeviceID, now: Int64)

  /// The saves that every device is known to have.
  var stabilityCut: VectorClock { get }
  /// Drops what dead records hold, as far as the deletion is stable.
  mutating func purge(now: Int64) throws -> Dot?
  /// Folds ledgers below the stability cut.
  mutating func fold()
  /// The token that belongs to the replica as it is.
  var restoreToken: Token { get }

  /// Says that a token is stored where no backup reaches.
  ///
  /// - Returns: Whether the replica's history contains the token's save.
  mutating func confirmTokenStored(_ token: Token) -> Bool

  /// Opens again, as another device unless the token belongs to the replica's
  /// history.
  ///
  /// - Throws: What is wrong with the bytes.
  mutating func reopen(with token: Token?, now: Int64) throws(ScriptMismatch)

  /// Deletes a record as it was shown.
  mutating func delete(
    _ id: RecordID, shown: Fetched, with company: ScriptCompany, now: Int64
  ) throws -> Dot?

  /// Undoes the last save that can be undone, or redoes it.
  mutating func undo(again: Bool, now: Int64) throws -> UndoneSave

  /// The saves that can be undone and redone.
  var history: UndoHistory { get }

  /// Brings in rows that every device already has.
  ///
  /// - Returns: The name that equal rows have everywhere, whether they are new here
  ///   or not.
  mutating func bringIn(_ rows: [ScriptVerb], now: Int64) throws -> Dot?

  /// Brings in rows of a server that knows no CRDT.
  ///
  /// - Returns: The dot; `nil` if nothing was new.
  mutating func pull(
    _ rows: [ScriptVerb], from server: String, modifiedAt time: Int64,
    now: Int64
  ) throws -> Dot?
  /// Retires a device.
  ///
  /// - Returns: The dot; `nil` if the replica knows no retirement.
  mutating func retire(_ device: DeviceID, now: Int64) throws -> Dot?
}

// What a replica need not know.
extension TestedReplica {
  /// Only whole fields are sent.
  public static var sendsFragments: Bool { false }

  /// Nothing.
  public var latest: Timestamp? { nil }

  /// Nothing.
  public var stored: [UInt8] { [] }

  /// Does nothing.
  public mutating func recordVersion(
    _ version: ReplicaVersion, of device: DeviceID, now: Int64
  ) {}

  /// Does nothing.
  public func checkListing(
    _ records: [RecordID], pages: Bool, named name: String
  ) throws(ScriptMismatch) {}

  /// All of the changes.
  public func part(since basis: ReplicaVersion, byteLimit: Int) -> Message? {
    message(since: basis)
  }

  /// Does nothing.
  public mutating func undo(again: Bool, now: Int64) throws -> UndoneSave {
    UndoneSave()
  }

  /// None.
  public var history: UndoHistory { UndoHistory() }
  public func laterReading(of path: FieldPath) -> LaterReading? { nil }

  /// Does nothing.
  public mutating func bringIn(
    _ rows: [ScriptVerb], now: Int64
  ) throws -> Dot? { nil }

  /// Does nothing.
  public mutating func pull(
    _ rows: [ScriptVerb], from server: String, modifiedAt time: Int64,
    now: Int64
  ) throws -> Dot? { nil }

  /// The message itself.
  public static func arrival(of message: Message) -> Message { message }
}

/// What is in a message.
public struct MessageOutline {
  /// The fields, those of which there is a fragment included.
  public var fields: Set<FieldPath>
  /// What the fragments claim.
  public var fragments: [FieldPath: Fragment] = [:]
  /// Of each device with unseen changes, which of its saves they are.
  public var intervals: [DeviceID: Interval]
  /// The times of the last saves of the intervals.
  public var times: [DeviceID: Timestamp] = [:]
  /// The record before those that the intervals are about, and the last of them;
  /// `nil` if they are about all.
  public var range: (after: RecordID?, through: RecordID?)?

  /// The saves of a device after `from` and up to `to`.
  public struct Interval: Hashable {
    /// The last save before the interval.
    public let from: UInt64
    /// The last save in the interval.
    public let to: UInt64

    /// Describes an interval; of a sound replica, `from` is below `to`.
    public init(from: UInt64, to: UInt64) { (self.from, self.to) = (from, to) }
  }

  /// What a part of a field claims.
  public struct Fragment: Hashable {
    /// The last saves that whoever takes it has seen of the field.
    public let clock: VectorClock
    /// The saves that the receiver must hold.
    public let basis: VectorClock
    /// Whether it is taken or refused as one.
    public let isWhole: Bool

    /// Describes a fragment.
    public init(clock: VectorClock, basis: VectorClock, isWhole: Bool) {
      (self.clock, self.basis, self.isWhole) = (clock, basis, isWhole)
    }
  }

  /// Describes a message.
  public init(
    fields: Set<FieldPath>, fragments: [FieldPath: Fragment] = [:],
    intervals: [DeviceID: Interval]
  ) {
    (self.fields, self.intervals) = (fields, intervals)
    self.fragments = fragments
  }
}

/// What undoing a save did.
public struct UndoneSave {
  /// The dot of the save that has undone it; `nil` if there was nothing to save.
  public let dot: Dot?
  /// What it does.
  let undoings: [RecordID: Transaction.Undoing]

  /// Reports that there was nothing to undo.
  public init() { (dot, undoings) = (nil, [:]) }

  init(_ undoings: [RecordID: Transaction.Undoing], at dot: Dot?) {
    (self.dot, self.undoings) = (dot, undoings)
  }
}

/// What receiving a message did.
public struct MessageReceipt {
  /// The devices with missing saves.
  public var gaps: Set<DeviceID> = []
  /// Of the parts of fields that were refused, for which devices.
  public var refusals: [FieldPath: Set<DeviceID>] = [:]
  /// The dots that were found to be used twice.
  public var equivocations: Set<Dot> = []
  /// The devices that were retired and are on the roster again.
  public var returned: Set<DeviceID> = []
  /// The devices that are now known to be forked.
  public var forked: Set<DeviceID> = []
  /// Whether something has become known, so that another part may follow.
  public var hasAdvanced = true
  /// The effect on records, or `nil` if the replica does not report it.
  public var existence: ExistenceReceipt?

  /// Reports no fault.
  public init() {}
}
