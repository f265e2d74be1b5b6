// SPDX-License-Identifier: Apache-2.0
import Rejoin
import RejoinTesting

/// A minimum size of fields that travel as fragments.
public protocol FragmentSize {
  /// The minimum number of elements, devices or entries.
  static var least: Int { get }
}

/// The library's default, so the small fields of scripts travel whole.
public enum UsualSize: FragmentSize {
  public static var least: Int { ReplicaState.defaultFragmentSize }
}

/// A minimum of zero: sets, counters and ledgers travel as fragments whenever
/// possible.
public enum AnySize: FragmentSize {
  public static var least: Int { 0 }
}

extension Replica {
  /// Sends sets, counters and ledgers as fragments whenever possible.
  public func sendFragments() { fragmentSize = AnySize.least }
}

/// The library's replica, for the checkers.
public typealias ReplicaUnderTest = TestedLibrary<UsualSize>

/// The library's replica, which sends fragments whenever possible.
public typealias FragmentingReplica = TestedLibrary<AnySize>

/// The library's replica, with a given fragment size.
public struct TestedLibrary<Size: FragmentSize>: TestedReplica {
  public static var sendsFragments: Bool { Size.least == 0 }

  /// The replica.
  public let replica: Replica
  /// The saves that can be undone and redone.
  public var history: UndoHistory { replica.undoHistory }
  let hand: ManualClock
  private let makeDeviceID: () -> DeviceID

  /// Creates an empty replica.
  public init(
    device: DeviceID, schema: Schema, makeDeviceID: @escaping () -> DeviceID
  ) {
    let hand = ManualClock()
    self.init(
      driving: Replica(
        device: device, schema: schema, wallClock: hand.wallClock,
        makeDeviceID: makeDeviceID),
      hand: hand, makeDeviceID: makeDeviceID)
  }

  /// Creates a driver of an existing replica.
  ///
  /// - Parameter hand: The replica's wall clock.
  package init(
    driving replica: Replica, hand: ManualClock,
    makeDeviceID: @escaping () -> DeviceID
  ) {
    (self.replica, self.hand) = (replica, hand)
    self.makeDeviceID = makeDeviceID
    replica.fragmentSize = Size.least
  }

  private init(
    resuming state: ReplicaState, _ schema: Schema,
    _ makeDeviceID: @escaping () -> DeviceID
  ) {
    let hand = ManualClock()
    self.init(
      driving: Replica(
        resuming: state, schema: schema, wallClock: hand.wallClock,
        makeDeviceID: makeDeviceID),
      hand: hand, makeDeviceID: makeDeviceID)
  }

  public func copy() -> Self {
    let copy = Self(resuming: replica.state, replica.schema, makeDeviceID)
    copy.replica.undoHistory = history
    return copy
  }

  public func forked(
    as device: DeviceID, makeDeviceID: @escaping () -> DeviceID
  ) -> Self {
    Self(
      resuming: replica.fork(as: device).state, replica.schema, makeDeviceID)
  }

  public var ownDevices: Set<DeviceID>? { replica.ownDevices }
  public var restoreToken: RestoreToken { replica.restoreToken }

  public mutating func confirmTokenStored(_ token: RestoreToken) -> Bool {
    replica.confirmTokenStored(token)
  }

  public mutating func reopen(
    with token: RestoreToken?, now: Int64
  ) throws(ScriptMismatch) {
    let state = try readBack("a stored replica") { () throws(WireError) in
      try ReplicaState(decoding: replica.state.encoded())
    }
    let token = try token.map { (token) throws(ScriptMismatch) in
      try readBack("a token") { () throws(WireError) in
        try RestoreToken(decoding: token.encoded())
      }
    }
    let history = try history.readBack()
    let opened = Replica(
      opening: state, token: token, schema: replica.schema,
      wallClock: ManualClock(now).wallClock, makeDeviceID: makeDeviceID)
    self = Self(
      resuming: opened.state, replica.schema, makeDeviceID)
    replica.undoHistory = history
  }

  public var device: DeviceID { replica.device }
  public var version: ReplicaVersion { replica.version }
  public var latest: Timestamp? { replica.state.hybrid.latest }

  /// The bytes that replicas with the same saves agree on.
  ///
  /// They contain the clock with its digests, and every field that travels.
  public var contents: [UInt8] { replica.foldedBytes }

  public var storedBytes: [UInt8] { replica.state.encoded() }
  public var calling: Replica? { replica }

  public func exists(_ id: RecordID) -> Bool { replica.exists(id) }

  public func reading(of location: FieldLocation) -> FieldReading {
    ReplicaView(replica).record(location.record)?.reading(of: location.field)
      ?? FieldReading()
  }
}

// Saving.
extension TestedLibrary {
  public mutating func save(
    _ verbs: [ScriptVerb], now: Int64
  ) throws -> Dot? {
    hand.now = now
    return try replica.save(undoable: "save") { transaction in
      transaction.perform(verbs)
    }.dot
  }

  public mutating func undo(again: Bool, now: Int64) throws -> UndoneSave {
    guard let undo = again ? history.redo : history.undo else {
      return UndoneSave()
    }
    hand.now = now
    let reversals = replica.reversals(of: undo)
    let before = history
    switch again ? try replica.redo() : try replica.undo() {
    case .done(let report):
      return UndoneSave(of: undo.dot, reversals, at: report.dot)
    case .prevented(let fields):
      try agree("a prevented undo keeps the history", history, before)
      try agree("a prevented undo names fields", fields.isEmpty, false)
      return UndoneSave(of: undo.dot, reversals, at: nil)
    case .nothing:
      throw ScriptMismatch("nothing is undone, although a save can be")
    }
  }

  public func fetch(_ id: RecordID) -> Record { replica.recordForEditing(id) }

  public mutating func save(
    _ edits: [FieldKey: FieldEdit], of id: RecordID, shown: Record,
    with company: ScriptCompany, now: Int64
  ) throws -> Dot? {
    try save(with: company, now: now) { transaction in
      transaction.ensureExists(
        id, observed: shown[.existence], recreatingWith: nil)
      for (key, change) in edits {
        let isQuiet = replica.schema.isQuiet(key, in: id.entity)
        transaction.apply(
          change, to: key, of: id,
          observed: isQuiet ? replica.recordForEditing(id)[key] : shown[key])
      }
    }
  }

  public mutating func delete(
    _ id: RecordID, shown: Record, with company: ScriptCompany, now: Int64
  ) throws -> Dot? {
    try save(with: company, now: now) {
      $0.delete(id, observed: shown[.existence], seen: shown.clock)
    }
  }

  private func save(
    with company: ScriptCompany, now: Int64, _ body: (Transaction) -> Void
  ) throws -> Dot? {
    hand.now = now
    return try replica.save(undoable: "context") { transaction in
      transaction.perform(company.before)
      body(transaction)
      transaction.perform(company.after)
    }.dot
  }

  public mutating func bringIn(
    _ rows: [ScriptVerb], now: Int64
  ) throws -> Dot? {
    hand.now = now
    let blank = Replica(
      device: DeviceID(0), schema: replica.schema, wallClock: hand.wallClock,
      makeDeviceID: makeDeviceID)
    for target in [blank, replica] {
      try target.importRows { transaction in
        transaction.perform(rows)
      }
    }
    return blank.version.vectorClock.entries.first.map {
      Dot($0.device, $0.count)
    }
  }

  public mutating func pull(
    _ rows: [ScriptVerb], from server: String, modifiedAt time: Int64,
    now: Int64
  ) throws -> Dot? {
    hand.now = now
    let before = replica.version.vectorClock
    try replica.importRows(from: server, modifiedAt: time) { transaction in
      transaction.perform(rows)
    }
    return replica.version.vectorClock.entries.first {
      $0.count > before[$0.device]
    }
    .map { Dot($0.device, $0.count) }
  }

  public var stabilityCut: VectorClock { replica.stabilityCut }

  public mutating func purge(now: Int64) throws -> Dot? {
    hand.now = now
    return try replica.purgeDeletedRecords().dot
  }

  public mutating func fold() { replica.foldLedgers() }

  public mutating func retire(
    _ device: DeviceID, now: Int64
  ) throws -> Dot? {
    hand.now = now
    return try replica.retire(device).dot
  }
}

// Exchanging deltas.
extension TestedLibrary {
  public func message(since basis: ReplicaVersion) -> Delta? {
    replica.delta(since: basis)
  }

  public func part(since basis: ReplicaVersion, byteLimit: Int) -> Delta? {
    replica.delta(since: basis, byteLimit: byteLimit)
  }

  public func parts(of message: Delta, count: Int) -> [Delta] {
    message.split(into: count)
  }

  public static func arrival(
    of message: Delta
  ) throws(ScriptMismatch) -> Delta {
    return try readBack("a delta") { () throws(WireError) in
      try Delta(decoding: message.encoded())
    }
  }

  public func outline(of message: Delta) -> MessageOutline {
    var outline = MessageOutline(
      fields: [],
      intervals: message.intervals.mapValues {
        .init(from: $0.from, to: $0.to.sequence)
      })
    outline.times = message.intervals.mapValues(\.to.time)
    outline.range = message.range.map { ($0.after, $0.through) }
    for change in message.changes {
      outline.fields.formUnion(
        change.fields.keys.map { FieldLocation(record: change.id, field: $0) })
      for (key, fragment) in change.fragments {
        outline.fields.insert(FieldLocation(record: change.id, field: key))
        outline.fragments[FieldLocation(record: change.id, field: key)] = .init(
          clock: fragment.state.clock, basis: fragment.basis,
          isWhole: fragment.isWhole)
      }
    }
    return outline
  }

  public mutating func apply(_ message: Delta, now: Int64) -> MessageReceipt {
    hand.now = now
    let report = replica.apply(message, reporting: .changes)
    var receipt = MessageReceipt()
    receipt.gaps = Set(report.gaps.map(\.device))
    for gap in report.gaps {
      guard let location = gap.field else { continue }
      receipt.refusals[location, default: []].insert(gap.device)
    }
    receipt.equivocations = report.equivocations
    receipt.returned = report.reactivatedDevices
    receipt.forked = report.forkedDevices
    receipt.existence = report.existence
    receipt.hasAdvanced = report.hasAdvanced
    return receipt
  }

  public mutating func recordVersion(
    of other: Self, now: Int64
  ) throws(ScriptMismatch) {
    hand.now = now
    let clock = try readBack("a version") { () throws(WireError) in
      try ReplicaVersion(decoding: other.version.encoded())
    }
    replica.recordVersion(clock, of: other.device)
  }
}

extension TestedLibrary {
  public mutating func recordVersion(
    _ version: ReplicaVersion, of device: DeviceID, now: Int64
  ) {
    hand.now = now
    replica.recordVersion(version, of: device)
  }
}

extension ReplicaVersion {
  /// Creates a version with the sequence numbers of a clock, and with digests
  /// that no device made.
  public init(forging clock: VectorClock) {
    self.init()
    for entry in clock.entries {
      let save = DeviceSave(
        sequence: entry.count, time: .zero, digest: entry.count << 32 | 0xbad)
      insert(save, of: entry.device)
    }
  }
}

/// Reports a decoding error as a mismatch.
private func readBack<Value>(
  _ what: String, _ read: () throws(WireError) -> Value
) throws(ScriptMismatch) -> Value {
  do throws(WireError) { return try read() } catch {
    throw ScriptMismatch("the library does not read \(what) it wrote: \(error)")
  }
}
