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

/// A connection to a PostgreSQL server.
///
///     let connection = try PostgreSQLConnection("host=localhost dbname=notes")
///     try connection.integer("SELECT 1::bigint + 1")  // 2
///
/// The connection sends integers as `BIGINT`, other numbers as `DOUBLE
/// PRECISION`, texts as `TEXT` and bytes as `BYTEA`. A call blocks its thread
/// until the server answers.
///
/// The connection uses no named statements on the server, so it works through a
/// pooler that assigns a session to each transaction.
public final class PostgreSQLConnection: SQLConnection {
  public var dialect: SQLDialect { .postgresql }
  public var isIdle: Bool {
    !isUncertain && library.status(connection) == 0 && !isInTransaction
  }

  private let library: PostgreSQLLibrary
  private let connection: OpaquePointer?
  /// Whether a cancel request may be pending, which could stop a later
  /// statement.
  private var isUncertain = false
  /// What was sent and whose answers are unread.
  private var unanswered: [Sent] = []
  private var isInTransaction = false
  private var isReadOnly = false
  /// Whether the connection stopped waiting for an answer, which would be read
  /// as the answer to a later statement.
  private var isAbandoned = false

  /// Connects to a server.
  ///
  /// - Parameters:
  ///   - parameters: A connection string of libpq, either `host=… dbname=…` or
  ///     a `postgresql://` URL. The environment supplies omitted parameters.
  ///   - timeout: The maximum time to wait for the server.
  /// - Throws: ``SQLError``
  public init(
    _ parameters: String, timeout: Duration = .seconds(10)
  ) throws(SQLError) {
    library = try PostgreSQLLibrary.shared.get()
    try SQLError.check(parameters)
    connection = library.connectStart(parameters)
    // `deinit` also finishes a connection that failed.
    guard library.status(connection) != 1 else {
      throw SQLError(.cannotOpen, "PostgreSQL: \(message)")
    }
    // A library must not print notices. Errors contain the same information.
    _ = library.setNoticeProcessor(connection, { _, _ in }, nil)
    // With this verbosity, error messages contain a code after the severity.
    let verbosity = library.setVerbosity(connection, 2)
    try connect(within: timeout)
    _ = library.setVerbosity(connection, verbosity)
    // In this mode, several statements can be sent before an answer is read.
    _ = library.enterPipeline(connection)
  }

  private func connect(within timeout: Duration) throws(SQLError) {
    let end = ContinuousClock.now + timeout
    // 1: The connection waits to read. 2: It waits to write. 3: It is ready.
    var step: Int32 = 2
    while step == 1 || step == 2 {
      let isReady = waits(for: Int16(step == 1 ? POLLIN : POLLOUT))
      if isCanceled {
        throw SQLError(.canceled, "PostgreSQL: connecting was canceled")
      }
      if ContinuousClock.now > end {
        throw SQLError(
          .unavailable, "PostgreSQL: the server did not answer in \(timeout)")
      }
      if isReady { step = library.connectPoll(connection) }
    }
    guard step != 3 else { return }
    // Without an answer from the server, the message contains no code.
    let state = message.split(separator: ":").map { $0.drop { $0 == " " } }
      .first { $0.utf8.count == 5 && $0.contains(where: \.isNumber) }
    throw SQLError(
      state.map { .init(connecting: String($0)) } ?? .unavailable,
      "PostgreSQL: \(message)")
  }

  deinit { library.finish(connection) }

  /// A message to the server.
  private enum Sent {
    case statement(String)
    /// The end of a batch, whose answer is one more result.
    case sync
  }

  public func run(_ sql: String, _ values: [SQLValue]) throws {
    let begins = sql.hasPrefix("BEGIN")
    if begins { isReadOnly = sql.hasSuffix("READ ONLY") }
    if sql == "COMMIT", isReadOnly, isInTransaction {
      return try endReading()
    }
    guard begins || isInTransaction, sql != "COMMIT", sql != "ROLLBACK" else {
      return try run(sql, values) { _ in }
    }
    try send(sql, values)
    isInTransaction = true
    // The server buffers only a limited number of answers.
    if unanswered.count > 100 { library.clear(try answer(to: sql)) }
  }

  /// Commits a transaction that only read.
  ///
  /// The outcome makes no difference, so the next statement reads the answer.
  private func endReading() throws(SQLError) {
    try send("COMMIT", [])
    if library.sync(connection) == 0 { throw failure(nil, "COMMIT") }
    unanswered.append(.sync)
    isInTransaction = false
  }

  public func run(
    _ sql: String, _ values: [SQLValue], _ body: (any SQLRow) throws -> Void
  ) throws {
    if sql == "ROLLBACK", !unanswered.isEmpty {
      // Read the answers first. After an error, the server skips the rest of a
      // batch, even ROLLBACK.
      if let result = try? answer(to: sql) { library.clear(result) }
    }
    try send(sql, values)
    let result = try answer(to: sql)
    defer { library.clear(result) }
    if sql == "COMMIT",
      library.command(result).map({ $0[0] }) == CChar(UInt8(ascii: "R"))
    {
      throw SQLError(
        .other("25P02"),
        "PostgreSQL: the transaction was rolled back because one of its "
          + "statements failed (COMMIT)")
    }
    let row = PostgreSQLRow(library, result)
    for number in 0..<library.rowCount(result) {
      row.row = number
      try body(row)
    }
  }

  /// Reads all answers.
  ///
  /// - Parameter sql: The last statement. If it ends a transaction, its outcome
  ///   must be known.
  /// - Returns: The answer to `sql`.
  /// - Throws: The first answer that is an error.
  private func answer(to sql: String) throws(SQLError) -> OpaquePointer? {
    let sent = unanswered + [.sync]
    unanswered = []
    if library.sync(connection) == 0 { throw failure(nil, sql) }
    var (last, failed) = (nil as OpaquePointer?, nil as SQLError?)
    var wait = Waiting(cancels: sql != "COMMIT" && sql != "ROLLBACK")
    for message in sent {
      guard case .statement(let statement) = message else {
        // The answer to a sync shows whether a transaction is in progress.
        try self.wait(&wait, for: sql)
        library.clear(library.result(connection))
        continue
      }
      try self.wait(&wait, for: statement)
      let result = library.result(connection)
      if failed == nil {
        failed = error(result, statement, wasCanceled: wait.end != nil)
      }
      library.clear(last)
      last = result
      // A null result ends each list of results.
      while let more = library.result(connection) { library.clear(more) }
    }
    let status = library.transactionStatus(connection)
    isInTransaction = status != 0
    if let failed {
      library.clear(last)
      throw failed
    }
    return last
  }

  private func send(_ sql: String, _ values: [SQLValue]) throws(SQLError) {
    try SQLError.check(sql)
    if isAbandoned {
      throw SQLError(.disconnected, "PostgreSQL: no answer before (\(sql))")
    }
    let contents = values.map(\.content)
    let isSent = withAddresses(of: contents) { addresses in
      library.send(
        connection, sql, Int32(values.count), values.map(\.type), addresses,
        contents.map { Int32(clamping: $0?.count ?? 0) },
        [Int32](repeating: 1, count: values.count), 1)
    }
    if isSent == 0 { throw failure(nil, sql) }
    unanswered.append(.statement(sql))
  }

  /// The state of a wait for answers.
  private struct Waiting {
    /// Whether to ask the server to cancel when the task is canceled.
    let cancels: Bool
    /// The time to give up, or `nil` until the server is asked to cancel.
    var end: ContinuousClock.Instant?
  }

  /// Waits until the next answer can be read.
  private func wait(
    _ waiting: inout Waiting, for sql: String
  ) throws(SQLError) {
    while library.isBusy(connection) == 1 {
      if waits(for: Int16(POLLIN)), library.consumeInput(connection) == 0 {
        throw failure(nil, sql)
      }
      if let end = waiting.end, ContinuousClock.now > end {
        isAbandoned = true
        throw SQLError(.canceled, "PostgreSQL: no answer (\(sql))")
      }
      if waiting.cancels, waiting.end == nil, isCanceled {
        cancel()
        waiting.end = ContinuousClock.now + .seconds(5)
      }
    }
  }

  private func cancel() {
    isUncertain = true
    let request = library.getCancel(connection)
    var reason = [CChar](repeating: 0, count: 256)
    _ = library.cancel(request, &reason, 256)
    library.freeCancel(request)
  }

  /// Waits briefly for the socket, and returns whether it is ready.
  private func waits(for events: Int16) -> Bool {
    var socket = pollfd(
      fd: library.socket(connection), events: events, revents: 0)
    return poll(&socket, 1, 50) != 0
  }

  /// Calls `body` with the address of each content, or a null pointer for NULL.
  private func withAddresses<Value>(
    of contents: [[UInt8]?],
    _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value
  ) -> Value {
    // Copy all contents into one array, so their addresses stay valid.
    var bytes: [UInt8] = []
    bytes.reserveCapacity(contents.reduce(1) { $0 + ($1?.count ?? 0) })
    for content in contents { bytes += content ?? [] }
    bytes.append(0)
    return bytes.withUnsafeBytes { bytes in
      var offset = 0
      let addresses = contents.map { content -> UnsafePointer<CChar>? in
        guard let content else { return nil }
        defer { offset += content.count }
        return bytes.baseAddress.map {
          ($0 + offset).assumingMemoryBound(to: CChar.self)
        }
      }
      return body(addresses)
    }
  }

  private func error(
    _ result: OpaquePointer?, _ sql: String, wasCanceled: Bool
  ) -> SQLError? {
    switch library.resultStatus(result) {
    // A command without rows, and a command with rows.
    case 1, 2: nil
    default: failure(result, sql, wasCanceled: wasCanceled)
    }
  }

  private func failure(
    _ result: OpaquePointer?, _ sql: String, wasCanceled: Bool = false
  ) -> SQLError {
    // The SQLSTATE has five characters. Without an answer, it is nil.
    let state = library.resultField(result, Int32(UInt8(ascii: "C")))
      .map { String(cString: $0) }
    let code: SQLError.Code =
      library.status(connection) != 0
      ? .disconnected
      : wasCanceled && state == "57014"
        ? .canceled : SQLError.Code(postgreSQL: state ?? "")
    return SQLError(code, "PostgreSQL: \(message) (\(sql))")
  }

  private var message: String {
    let text = library.message(connection).map { String(cString: $0) }
    return (text ?? "no memory").split(whereSeparator: \.isNewline)
      .joined(separator: " ")
  }
}

extension SQLValue {
  /// The type's number in PostgreSQL, or zero if the server must infer the
  /// type.
  fileprivate var type: UInt32 {
    switch self {
    case .null: 0
    case .integer: 20
    case .double: 701
    case .text: 25
    case .bytes: 17
    }
  }

  /// The bytes to send, or `nil` for NULL.
  fileprivate var content: [UInt8]? {
    switch self {
    case .null: nil
    case .integer(let number): withUnsafeBytes(of: number.bigEndian, Array.init)
    case .double(let number):
      withUnsafeBytes(of: number.bitPattern.bigEndian, Array.init)
    case .text(let text): Array(text.utf8)
    case .bytes(let bytes): bytes
    }
  }
}

/// The current row of a result. One object serves all rows.
private final class PostgreSQLRow: SQLRow {
  private let library: PostgreSQLLibrary
  private let result: OpaquePointer?
  var row: Int32 = 0

  init(_ library: PostgreSQLLibrary, _ result: OpaquePointer?) {
    (self.library, self.result) = (library, result)
  }

  func value(_ column: Int) -> SQLValue {
    if library.isNull(result, row, Int32(column)) != 0 { return .null }
    switch library.type(result, Int32(column)) {
    // BIGINT, SMALLINT, INTEGER.
    case 20, 21, 23: return .integer(integer(column))
    // REAL and DOUBLE PRECISION.
    case 700:
      return .double(
        Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits(column)))))
    case 701: return .double(Double(bitPattern: bits(column)))
    // TEXT, VARCHAR, CHAR, NAME.
    case 25, 1043, 1042, 19:
      return .text(String(decoding: bytes(column), as: UTF8.self))
    default: return .bytes(bytes(column))
    }
  }

  func integer(_ column: Int) -> Int64 {
    withBytes(column) { bytes in
      bytes.count > 8
        ? 0
        // Extend the sign, because shorter types are also signed.
        : bytes.dropFirst().reduce(
          Int64(bytes.first.map { Int8(bitPattern: $0) } ?? 0)
        ) { $0 << 8 | Int64($1) }
    }
  }

  func withBytes<Value>(
    _ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Value
  ) rethrows -> Value {
    let start = library.value(result, row, Int32(column))
    let count = library.length(result, row, Int32(column))
    return try body(
      UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(count))
    )
  }
}

extension SQLError.Code {
  /// Creates a code from a SQLSTATE, whose first two characters are the class.
  fileprivate init(postgreSQL state: String) {
    self =
      switch state {
      // Serialization failures, deadlocks, unavailable locks, and statements
      // that exceeded a time limit or were canceled.
      case "40001", "40P01", "55P03", "57014": .busy
      case "53100": .full
      // The values do not fit the parameters of the statement.
      case "08P01": .misused
      case "25006": .readOnly
      case "58030": .inputOutput
      case "XX001", "XX002": .corrupted
      // The server ended the session.
      case "57P01", "57P02", "57P05", "25P03": .disconnected
      case "57P03": .unavailable
      default:
        switch state.prefix(2) {
        case "08": .disconnected
        // Rolled-back transactions, and exhausted resources.
        case "40": .busy
        case "53": .unavailable
        default: .other(state)
        }
      }
  }

  /// Creates a code from the SQLSTATE of a refused connection.
  fileprivate init(connecting state: String) {
    switch SQLError.Code(postgreSQL: state) {
    case .unavailable, .busy, .disconnected: self = .unavailable
    default: self = .cannotOpen
    }
  }
}
