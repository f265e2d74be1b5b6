// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL
import RejoinStore
import RejoinTesting

/// The library's replica in a store whose database fails repeatedly.
///
/// A failed change is repeated and must then have its usual effect. After every
/// step, the rows must equal the state in memory, byte for byte. A hub receives
/// the same messages.
public struct StoringReplica: TestedReplica {
  private typealias Library = TestedLibrary<AnySize>

  public static var sendsFragments: Bool { true }

  private let shelf: Shelf
  private var library: Library

  private init(_ shelf: Shelf) {
    self.shelf = shelf
    library = Library(
      driving: shelf.scope.replica, hand: shelf.hand,
      makeDeviceID: shelf.makeDeviceID)
  }

  /// Creates an empty replica.
  public init(
    device: DeviceID, schema: Schema, makeDeviceID: @escaping () -> DeviceID
  ) {
    let state = Replica(
      device: device, schema: schema, wallClock: ManualClock().wallClock,
      makeDeviceID: makeDeviceID
    ).state
    self.init(Shelf(state, schema, makeDeviceID))
  }

  public func copy() -> Self {
    Self(
      Shelf(
        library.replica.state, shelf.schema, shelf.makeDeviceID, history))
  }

  public func forked(
    as device: DeviceID, makeDeviceID: @escaping () -> DeviceID
  ) -> Self {
    Self(
      Shelf(
        library.replica.fork(as: device).state, shelf.schema, makeDeviceID))
  }

  /// Performs a change, and repeats it if the database fails.
  private mutating func update<Value>(
    _ body: (inout Library) throws -> Value
  ) throws -> Value {
    var updated = library
    do {
      let value = try shelf.scope.update { _ in try body(&updated) }
      library = updated
      return value
    } catch {
      switch error {
      case StoreError.notDurable, StoreError.busy: updated = library
      default: throw error
      }
    }
    let value = try shelf.withoutFailures {
      try shelf.scope.update { _ in try body(&updated) }
    }
    library = updated
    return value
  }

  /// Performs a change that can fail only because of the database.
  private mutating func surely<Value>(
    _ body: (inout Library) -> Value
  ) -> Value {
    do { return try update { body(&$0) } } catch {
      preconditionFailure("the store does not go on: \(error)")
    }
  }

  public mutating func reopen(
    with token: RestoreToken?, now: Int64
  ) throws(ScriptMismatch) {
    shelf.hand.now = now
    shelf.tokenStorage.bytes = token?.encoded()
    let kept = history
    shelf.reopen()
    self = Self(shelf)
    try agree("the undo history in the rows", history, kept)
  }

  public func checkListing(
    _ records: [RecordID], pages: Bool, named name: String
  ) throws(ScriptMismatch) {
    try library.checkListing(records, pages: pages, named: name)
    try shelf.observer.check(named: name)
    try shelf.checkDerived(named: name) { library.reading(of: $0) }
    try shelf.checkSnapshots(named: name)
    try shelf.writeToken()
    let (rows, memory) = (try shelf.rows(of: name), library.storedBytes)
    guard rows != memory else {
      return try shelf.hub.check(
        { library.message(since: $0) }, named: name)
    }
    let same = zip(rows, memory).prefix { $0 == $1 }.count
    throw ScriptMismatch(
      "the rows of \(name) have other bytes than its memory from \(same) on: "
        + "\(rows.dropFirst(same)), must be \(memory.dropFirst(same))")
  }
}

// Forwarding to the library.
extension StoringReplica {
  public var device: DeviceID { library.device }
  public var version: ReplicaVersion { library.version }
  public var latest: Timestamp? { library.latest }
  public var contents: [UInt8] { library.contents }
  public var storedBytes: [UInt8] { library.storedBytes }
  public var calling: Replica? { library.replica }
  public var ownDevices: Set<DeviceID>? { library.ownDevices }
  public var restoreToken: RestoreToken { library.restoreToken }
  public var stabilityCut: VectorClock { library.stabilityCut }
  public var history: UndoHistory { library.history }

  public func exists(_ id: RecordID) -> Bool { library.exists(id) }
  public func reading(of location: FieldLocation) -> FieldReading {
    library.reading(of: location)
  }
  public func laterReading(of location: FieldLocation) -> LaterReading? {
    library.laterReading(of: location)
  }
  public func fetch(_ id: RecordID) -> Record { library.fetch(id) }

  public func message(since basis: ReplicaVersion) -> Delta? {
    library.message(since: basis)
  }
  public func part(since basis: ReplicaVersion, byteLimit: Int) -> Delta? {
    library.part(since: basis, byteLimit: byteLimit)
  }
  public func parts(of message: Delta, count: Int) -> [Delta] {
    library.parts(of: message, count: count)
  }
  public func outline(of message: Delta) -> MessageOutline {
    library.outline(of: message)
  }
  public static func arrival(
    of message: Delta
  ) throws(ScriptMismatch) -> Delta { try Library.arrival(of: message) }
}

// Changes in the store.
extension StoringReplica {
  public mutating func save(_ verbs: [ScriptVerb], now: Int64) throws -> Dot? {
    try update { try $0.save(verbs, now: now) }
  }

  public mutating func save(
    _ edits: [FieldKey: FieldEdit], of id: RecordID, shown: Record,
    with company: ScriptCompany, now: Int64
  ) throws -> Dot? {
    try update {
      try $0.save(edits, of: id, shown: shown, with: company, now: now)
    }
  }

  public mutating func delete(
    _ id: RecordID, shown: Record, with company: ScriptCompany, now: Int64
  ) throws -> Dot? {
    try update { try $0.delete(id, shown: shown, with: company, now: now) }
  }

  public mutating func undo(again: Bool, now: Int64) throws -> UndoneSave {
    try update { try $0.undo(again: again, now: now) }
  }

  public mutating func bringIn(
    _ rows: [ScriptVerb], now: Int64
  ) throws -> Dot? {
    try update { try $0.bringIn(rows, now: now) }
  }

  public mutating func pull(
    _ rows: [ScriptVerb], from server: String, modifiedAt time: Int64,
    now: Int64
  ) throws -> Dot? {
    try update {
      try $0.pull(rows, from: server, modifiedAt: time, now: now)
    }
  }

  public mutating func purge(now: Int64) throws -> Dot? {
    try update { try $0.purge(now: now) }
  }

  public mutating func retire(
    _ device: DeviceID, now: Int64
  ) throws -> Dot? {
    try update { try $0.retire(device, now: now) }
  }

  public mutating func fold() { surely { $0.fold() } }

  public mutating func apply(_ message: Delta, now: Int64) -> MessageReceipt {
    shelf.hub.apply(message)
    return surely { $0.apply(message, now: now) }
  }

  public mutating func recordVersion(
    of other: Self, now: Int64
  ) throws(ScriptMismatch) {
    shelf.hub.recordVersion(other.version, of: other.device)
    let result = surely { library in
      Result { () throws(ScriptMismatch) in
        try library.recordVersion(of: other.library, now: now)
      }
    }
    try result.get()
  }

  public mutating func recordVersion(
    _ version: ReplicaVersion, of device: DeviceID, now: Int64
  ) {
    shelf.hub.recordVersion(version, of: device)
    surely { $0.recordVersion(version, of: device, now: now) }
  }

  public mutating func confirmTokenStored(_ token: RestoreToken) -> Bool {
    let isBelieved = surely { $0.confirmTokenStored(token) }
    if isBelieved { shelf.tokenStorage.bytes = token.encoded() }
    return isBelieved
  }
}

/// A database in memory with one scope.
private final class Shelf {
  let tokenStorage = MemoryTokenStorage()
  let hub = HubMirror()
  let hand = ManualClock()
  let schema: Schema
  let makeDeviceID: () -> DeviceID
  private let connection: FailingConnection
  private(set) var scope: StoredScope
  private(set) var observer: ObserverMirror
  private var derived: DerivedMirror
  /// The device at the last check, whose token is written.
  private var lastDevice: DeviceID?

  final class MemoryTokenStorage: TokenStorage, @unchecked Sendable {
    // Unchecked: only one thread uses the replica.
    var bytes: [UInt8]?
    func load() -> [UInt8]? { bytes }
    func store(_ bytes: [UInt8]) { self.bytes = bytes }
  }

  init(
    _ state: ReplicaState, _ schema: Schema,
    _ makeDeviceID: @escaping () -> DeviceID,
    _ history: UndoHistory = UndoHistory()
  ) {
    (self.schema, self.makeDeviceID) = (schema, makeDeviceID)
    tokenStorage.bytes = RestoreToken(state).encoded()
    // Opening must not set back the hybrid clock of a copy.
    hand.now = state.hybrid.latest.milliseconds
    do {
      connection = try FailingConnection(
        SQLiteConnection(opening: ":memory:"))
      scope = try StoredScope(
        "main", on: connection, from: state, patching: .forTesting,
        schema: schema, tables: DerivedMirror.tables(of: schema),
        writing: DerivedMirror.writer, wallClock: hand.wallClock,
        token: tokenStorage,
        makeDeviceID: makeDeviceID)
      scope.replica.sendFragments()
      scope.replica.undoHistory = history
      try scope.update { _ in }
      lastDevice = scope.replica.device
      observer = ObserverMirror(of: scope)
      derived = DerivedMirror(of: scope)
    } catch { preconditionFailure("no store can be made: \(error)") }
    connection.fails = true
  }

  func withoutFailures<Value>(_ body: () throws -> Value) rethrows -> Value {
    connection.fails = false
    defer { connection.fails = true }
    return try body()
  }

  func reopen() {
    do {
      scope = try withoutFailures {
        try StoredScope(
          "main", on: connection, patching: .forTesting, schema: schema,
          tables: DerivedMirror.tables(of: schema),
          writing: DerivedMirror.writer, wallClock: hand.wallClock,
          token: tokenStorage,
          makeDeviceID: makeDeviceID)
      }
      scope.replica.sendFragments()
      observer = ObserverMirror(of: scope)
      derived = DerivedMirror(of: scope)
    } catch { preconditionFailure("the store cannot be opened: \(error)") }
  }

  /// Writes that the token of a new device is stored.
  ///
  /// A store stores this token after the commit, and the next change writes that
  /// it is stored.
  func writeToken() throws(ScriptMismatch) {
    if scope.replica.device == lastDevice { return }
    lastDevice = scope.replica.device
    do { try withoutFailures { try scope.update { _ in } } } catch {
      throw ScriptMismatch("the token cannot be written: \(error)")
    }
  }

  /// Compares tables and lists with the records.
  func checkDerived(
    named name: String, reading: (FieldLocation) -> FieldReading
  ) throws(ScriptMismatch) {
    connection.fails = false
    defer { connection.fails = true }
    try derived.check(connection, named: name, reading: reading)
  }

  /// Compares snapshots of the rows with the replica.
  func checkSnapshots(named name: String) throws(ScriptMismatch) {
    connection.fails = false
    defer { connection.fails = true }
    try SnapshotMirror(of: scope.replica).check(
      "main", on: connection, named: name)
  }

  /// Returns the state in the rows, encoded.
  func rows(of name: String) throws(ScriptMismatch) -> [UInt8] {
    do {
      return try withoutFailures {
        try StoredScope.read("main", on: connection)?.encoded() ?? []
      }
    } catch {
      throw ScriptMismatch("the rows of \(name) cannot be read: \(error)")
    }
  }
}

/// A connection that fails at every eleventh write.
private final class FailingConnection: SQLConnection {
  private let connection: SQLiteConnection
  private var count = 0
  var dialect: SQLDialect { connection.dialect }
  var isIdle: Bool { connection.isIdle }
  var fails = false

  init(_ connection: SQLiteConnection) { self.connection = connection }

  func run(
    _ sql: String, _ values: [SQLValue], _ body: (any SQLRow) throws -> Void
  ) throws {
    // Reads and rollbacks succeed, so the scope can read the changed records
    // again.
    if fails, !sql.hasPrefix("SELECT"), sql != "ROLLBACK", sql != "BEGIN" {
      count += 1
      if count % 11 == 0 { throw SQLError(.full, "no room") }
    }
    try connection.run(sql, values, body)
  }
}
