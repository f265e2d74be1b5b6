// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A connection to an SQLite file.
///
///     let connection = try SQLiteConnection(opening: "notes.sqlite")
///     try connection.integer("SELECT 1 + 1")  // 2
public final class SQLiteConnection: SQLConnection {
  /// The access to a file.
  public enum Mode: Sendable {
    /// Reading and writing, which creates the file if it does not exist.
    case writing
    /// Reading only.
    case reading
    /// Reading only a file that no connection changes, without locks.
    ///
    /// It reads a closed database in a folder that cannot be written. Changes in
    /// a log next to the file are ignored.
    case unchanging
  }

  public var dialect: SQLDialect { .sqlite }
  public var isIdle: Bool {
    database != nil && library.isAutomatic(database) != 0
  }

  /// Whether the connection was closed.
  package var isClosed: Bool { database == nil }

  private let library: SQLiteLibrary
  /// The open database, or `nil` after the connection is closed.
  private var database: OpaquePointer?
  private let hooks: Hooks
  private var statements = SQLiteStatements()
  /// The statements that were prepared under restrictions, by whether they must not
  /// change derived tables.
  private var restricted = [
    false: SQLiteStatements(), true: SQLiteStatements(),
  ]

  /// Makes all connections of this process use a library file, such as a build with
  /// own options, instead of the system's SQLite.
  ///
  ///     try SQLiteConnection.useLibrary(at: "libsqlite3-own.so")
  ///
  /// Call it before the first connection is opened, because two copies of SQLite in
  /// a process break each other's locks. Repeated calls with the same path change
  /// nothing. On Android, apps must call it, because the system's library is not
  /// theirs to open. An app that links a copy of its own, for example through another
  /// package, names the file of this copy.
  ///
  /// - Parameter path: The path or the name of the file, as `dlopen` takes it.
  /// - Throws: ``SQLError`` if the file cannot be opened or has not all functions
  ///   (``SQLError/Code-swift.enum/libraryMissing``), or if the process already uses a
  ///   library under another name (``SQLError/Code-swift.enum/misused``). Nothing is
  ///   changed then.
  public static func useLibrary(at path: String) throws(SQLError) {
    try SQLiteLibrary.use(path)
  }

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - mode: The access to the file.
  ///   - timeout: The maximum time that a statement waits for a lock of another
  ///     connection.
  /// - Throws: ``SQLError``
  public init(
    opening path: String, _ mode: Mode = .writing,
    timeout: Duration = .seconds(5)
  ) throws(SQLError) {
    library = try SQLiteLibrary.current()
    hooks = Hooks(timeout)
    // Use extended result codes, and no mutex because a connection has only one
    // owner at a time.
    // 0x40 makes the path a URI.
    let flags: Int32 =
      switch mode {
      case .writing: 0x2 | 0x4
      case .reading: 0x1
      case .unchanging: 0x1 | 0x40
      }
    if path.utf8.contains(0) {
      throw SQLError(
        .cannotOpen, "the path \(path.debugDescription) contains a NUL")
    }
    var database: OpaquePointer?
    let code = library.open(
      mode == .unchanging ? SQLiteConnection.unchangingURI(of: path) : path,
      &database, flags | 0x8000 | 0x0200_0000, nil)
    self.database = database
    guard code == 0 else {
      // `deinit` closes the database, which exists even after an error.
      throw failure(code, path)
    }
    let context = Unmanaged.passUnretained(hooks).toOpaque()
    _ = library.setBusyHandler(
      database, { context, _ in Hooks.at(context).waits() ? 1 : 0 }, context)
    _ = library.setAuthorizer(
      database,
      { context, action, first, second, _, _ in
        // 1 is SQLITE_DENY.
        Hooks.at(context).allows(action, [first, second]) ? 0 : 1
      }, context)
  }

  /// Runs `body` without waiting for locks of other connections.
  package func withoutWaiting<Value>(
    _ body: () throws -> Value
  ) rethrows -> Value {
    let timeout = hooks.timeout
    hooks.timeout = .zero
    defer { hooks.timeout = timeout }
    return try body()
  }

  private static func unchangingURI(of path: String) -> String {
    // A character can consist of a special one and others.
    let text = path.unicodeScalars.map { scalar in
      switch scalar {
      case "%": "%25"
      case "?": "%3f"
      case "#": "%23"
      default: String(scalar)
      }
    }.joined()
    let isAbsolute = path.utf8.first == UInt8(ascii: "/")
    return (isAbsolute ? "file://" : "file:") + text + "?immutable=1"
  }

  deinit { close() }

  /// Closes the connection permanently.
  ///
  /// The last connection to a file writes the log back and deletes it.
  public func close() {
    for isDerived in [false, true] {
      for statement in restricted[isDerived]?.takeAll() ?? [] {
        _ = library.finalize(statement)
      }
    }
    for statement in statements.takeAll() { _ = library.finalize(statement) }
    _ = library.close(database)
    database = nil
  }

  public func run(
    _ sql: String, _ values: [SQLValue], _ body: (any SQLRow) throws -> Void
  ) throws {
    if hooks.protected != nil, isIdle {
      // After some errors, SQLite ends the transaction. The statement would
      // then be committed immediately.
      throw SQLError(
        .misused, "the store's transaction was ended in it (\(sql))")
    }
    let statement = try prepared(sql)
    defer {
      // Release the locks of an unfinished statement and free the values.
      _ = library.reset(statement)
      _ = library.clearBindings(statement)
      keep(statement, of: sql)
    }
    guard Int(library.placeCount(statement)) == values.count else {
      throw SQLError(
        .misused,
        "\(values.count) values for \(library.placeCount(statement)) "
          + "parameters of a statement (\(sql))")
    }
    for (i, value) in values.enumerated() {
      try check(bind(value, at: Int32(i + 1), of: statement), sql)
    }
    hooks.beginStatement()
    let row = SQLiteRow(library, statement)
    while true {
      switch library.step(statement) {
      case 100: try body(row)
      case 101: return
      case let code: throw failure(code, sql)
      }
    }
  }

  /// Runs `body` with restrictions on its statements.
  ///
  /// They must not end the transaction, change its durability, or change the
  /// protected tables.
  ///
  /// - Parameters:
  ///   - tables: The names of the protected tables, in lower case.
  ///   - derived: The names of protected tables that can have indexes and triggers
  ///     of the app, in lower case. All calls must pass the same names.
  package func restricted<Value>(
    protecting tables: Set<String>, derived: Set<String> = [],
    _ body: () throws -> Value
  ) rethrows -> Value {
    (hooks.protected, hooks.derived) = (tables, derived)
    defer { (hooks.protected, hooks.derived) = (nil, []) }
    return try body()
  }

  private func prepared(_ sql: String) throws(SQLError) -> OpaquePointer {
    if let statement =
      hooks.protected == nil
      ? statements.take(sql) : restricted[!hooks.derived.isEmpty]?.take(sql)
    {
      return statement
    }
    guard database != nil else {
      throw SQLError(.misused, "the connection is closed (\(sql))")
    }
    try SQLError.check(sql)
    var (statement, other): (OpaquePointer?, OpaquePointer?)
    let (code, isOne) = sql.withCString { text in
      var end: UnsafePointer<CChar>?
      // 1: The statement will be used often.
      let code = library.prepare(database, text, -1, 1, &statement, &end)
      guard code == 0, let end, end.pointee != 0 else { return (code, true) }
      // Only white space or a comment can follow. A second statement would be
      // ignored.
      let isOne = library.prepare(database, end, -1, 0, &other, nil) == 0
      return (code, isOne && other == nil)
    }
    try check(code, sql)
    guard let statement, isOne else {
      _ = library.finalize(statement)
      _ = library.finalize(other)
      throw SQLError(
        .misused,
        statement == nil
          ? "\"\(sql)\" is not a statement"
          : "more than one statement (\(sql))")
    }
    return statement
  }

  private func keep(_ statement: OpaquePointer, of sql: String) {
    let dropped =
      hooks.protected == nil
      ? statements.keep(statement, of: sql)
      : restricted[!hooks.derived.isEmpty]?.keep(statement, of: sql) ?? nil
    _ = library.finalize(dropped)
  }

  private func bind(
    _ value: SQLValue, at place: Int32, of statement: OpaquePointer
  ) -> Int32 {
    switch value {
    case .null: return library.bindNull(statement, place)
    case .integer(let number):
      return library.bindInteger(statement, place, number)
    case .double(let number):
      return library.bindDouble(statement, place, number)
    case .text(var text):
      return text.withUTF8 {
        library.bindText(
          statement, place, address($0), Int32(clamping: $0.count), -1)
      }
    case .bytes(let bytes):
      return bytes.withUnsafeBufferPointer {
        library.bindBytes(
          statement, place, address($0), Int32(clamping: $0.count), -1)
      }
    }
  }

  /// Returns the address of some bytes, or any address if they are empty.
  ///
  /// SQLite binds NULL if it receives a null pointer.
  private func address(
    _ bytes: UnsafeBufferPointer<UInt8>
  ) -> UnsafeRawPointer? {
    bytes.baseAddress.map { UnsafeRawPointer($0) }
      ?? UnsafeRawPointer(bitPattern: 8)
  }

  private func check(_ code: Int32, _ sql: String) throws(SQLError) {
    if code != 0 { throw failure(code, sql) }
  }

  private func failure(_ code: Int32, _ what: String) -> SQLError {
    // 23 is SQLITE_AUTH.
    if code & 0xff == 23, hooks.protected != nil {
      return SQLError(
        .misused,
        "a statement in the store's transaction must not end it, or change "
          + "the settings or the tables of the store (\(what))")
    }
    let message = library.message(database).map { String(cString: $0) }
    let isCanceled = [5, 6].contains(code & 0xff) && isCanceled
    return SQLError(
      isCanceled ? .canceled : .init(sqlite: code),
      "SQLite: \(message ?? "no memory") (\(what))")
  }
}

/// The callbacks of SQLite for locks and restrictions.
private final class Hooks {
  /// The tables that statements must not change, or `nil` without restrictions.
  var protected: Set<String>?
  /// The other tables whose rows they must not change.
  var derived: Set<String> = []
  var timeout: Duration
  /// The time when the statement started to wait, or `nil` if it did not wait.
  private var start: ContinuousClock.Instant?

  init(_ timeout: Duration) { self.timeout = timeout }

  static func at(_ context: UnsafeMutableRawPointer?) -> Hooks {
    guard let context else { preconditionFailure("hooks without a context") }
    return Unmanaged.fromOpaque(context).takeUnretainedValue()
  }

  func beginStatement() { start = nil }

  /// Waits briefly for a lock, and returns `false` after the timeout.
  func waits() -> Bool {
    let now = ContinuousClock.now
    let start = self.start ?? now
    self.start = start
    if isCanceled || now - start >= timeout { return false }
    usleep(2_000)
    return true
  }

  /// Returns whether a statement may perform an action.
  ///
  /// - Parameters:
  ///   - action: The number of the action in SQLite.
  ///   - names: The names that the action concerns.
  func allows(_ action: Int32, _ names: [UnsafePointer<CChar>?]) -> Bool {
    guard let protected else { return true }
    switch action {
    // PRAGMA: virtual tables such as FTS5 read these two settings.
    case 19:
      return names[1] == nil
        && ["data_version", "page_size"].contains(text(names[0]))
    // BEGIN or COMMIT or ROLLBACK, ATTACH, DETACH, SAVEPOINT or RELEASE.
    case 22, 24, 25, 32: return false
    // ALTER TABLE does not pass the new name. A temporary table with this name
    // could hide a table of the store.
    case 26 where text(names[0]) == "temp": return false
    // READ, SELECT, FUNCTION, RECURSIVE: these only read.
    case 20, 21, 31, 33: return true
    // Create or drop an INDEX or a TRIGGER.
    case 1, 7, 10, 16:
      return !names.contains { protected.contains(text($0)) }
    default:
      return !names.map(text)
        .contains { protected.contains($0) || derived.contains($0) }
    }
  }

  private func text(_ name: UnsafePointer<CChar>?) -> String {
    name.map { String(cString: $0).lowercased() } ?? ""
  }
}

/// The current row of a statement.
///
/// One object serves all rows.
private final class SQLiteRow: SQLRow {
  private let library: SQLiteLibrary
  private let statement: OpaquePointer

  init(_ library: SQLiteLibrary, _ statement: OpaquePointer) {
    (self.library, self.statement) = (library, statement)
  }

  func value(_ column: Int) -> SQLValue {
    switch library.kind(statement, Int32(column)) {
    case 1: .integer(integer(column))
    case 2: .double(library.double(statement, Int32(column)))
    case 3:
      .text(
        String(
          decoding: UnsafeRawBufferPointer(
            start: library.text(statement, Int32(column)),
            count: Int(library.count(statement, Int32(column)))),
          as: UTF8.self))
    case 4: .bytes(bytes(column))
    default: .null
    }
  }

  func integer(_ column: Int) -> Int64 {
    library.integer(statement, Int32(column))
  }

  func withBytes<Value>(
    _ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Value
  ) rethrows -> Value {
    let start = library.bytes(statement, Int32(column))
    let count = library.count(statement, Int32(column))
    return try body(
      UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(count))
    )
  }
}

extension SQLError.Code {
  /// Creates a code from a result code of SQLite, whose lowest byte is the
  /// kind.
  fileprivate init(sqlite code: Int32) {
    self =
      switch code & 0xff {
      case 5, 6: .busy
      case 8: .readOnly
      case 10: .inputOutput
      case 11, 26: .corrupted
      case 13: .full
      case 14: .cannotOpen
      case 3, 23: .denied
      default: .other(String(code))
      }
  }
}
