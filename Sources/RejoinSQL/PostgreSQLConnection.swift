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
/// The connection works through a pooler that assigns a session to each
/// transaction. Only a hub on a direct connection prepares statements, which
/// belong to the session.
public final class PostgreSQLConnection: SQLConnection {
  public var dialect: SQLDialect { .postgresql }
  public var isIdle: Bool {
    !isUncertain && !isAbandoned && library.status(connection) == 0
      && !isInTransaction
  }

  private let library: PostgreSQLLibrary
  private let connection: OpaquePointer?
  private let answerTimeout: Duration
  /// Whether a cancel request may be pending, which could stop a later
  /// statement.
  private var isUncertain = false
  /// The messages whose answers are unread.
  private var unanswered: [Sent] = []
  private var isInTransaction = false
  private var isReadOnly = false
  /// The statements that the server keeps, or `nil` if it keeps none.
  private var kept: [KeptStatement: String]?
  /// The number of names that were used.
  private var names = 0
  /// Whether the connection stopped waiting for an answer, which would be read
  /// as the answer to a later statement.
  private var isAbandoned = false

  /// Connects to a server.
  ///
  /// If the string lists several hosts, the connection tries them in turn, each
  /// for `connect_timeout` seconds. If this parameter is omitted, each host has
  /// an equal part of `timeout`, but at least two seconds.
  ///
  /// - Parameters:
  ///   - parameters: A connection string of libpq, either `host=… dbname=…` or
  ///     a `postgresql://` URL. The environment supplies omitted parameters.
  ///   - timeout: The maximum time to connect.
  ///   - answerTimeout: The maximum time that a statement waits while the server
  ///     neither sends nor receives data. The statement then throws an error
  ///     with the code ``SQLError/Code/disconnected``. The default is a minute.
  /// - Throws: ``SQLError``
  public init(
    _ parameters: String, timeout: Duration = .seconds(10),
    answerTimeout: Duration = .seconds(60)
  ) throws(SQLError) {
    let library = try PostgreSQLLibrary.shared.get()
    (self.library, self.answerTimeout) = (library, answerTimeout)
    let parameters = try PostgreSQLParameters(
      parameters, timeout: timeout, library)
    let call = BlockingCall {
      parameters.connect()
    } discarding: {
      library.finish($0.connection)
    }
    let end = ContinuousClock.now + timeout
    guard let result = call.result(until: end, stopsIfCanceled: true) else {
      throw isCanceled
        ? SQLError(
          .canceled, "PostgreSQL: connecting was canceled", dialect: .postgresql
        )
        : SQLError(
          .unavailable, "PostgreSQL: the server did not answer in \(timeout)",
          dialect: .postgresql)
    }
    connection = result.connection
    // `deinit` also finishes a connection that failed.
    guard library.status(connection) == 0 else {
      throw result.isValid
        ? refusal
        : SQLError(
          .cannotOpen, "PostgreSQL: \(message)", dialect: .postgresql)
    }
    // A write must not wait for a server that does not read.
    _ = library.setNonblocking(connection, 1)
    // In this mode, several statements can be sent before an answer is read.
    _ = library.enterPipeline(connection)
  }

  /// The error of a connection that failed.
  private var refusal: SQLError {
    // Without an answer from the server, the message contains no code.
    let state = message.split(separator: ":").map { $0.drop { $0 == " " } }
      .first { $0.utf8.count == 5 && $0.contains(where: \.isNumber) }
    return SQLError(
      state.map { .init(connecting: String($0)) } ?? .unavailable,
      "PostgreSQL: \(message)", dialect: .postgresql)
  }

  deinit { library.finish(connection) }

  /// A statement that the server keeps under a name.
  private struct KeptStatement: Hashable {
    let sql: String
    /// The types of the values, which belong to the statement.
    let types: [UInt32]
  }

  /// A message to the server.
  private enum Sent {
    case statement(String)
    /// A statement to keep.
    case preparation(KeptStatement)
    /// The end of a batch, whose answer is one more result.
    case sync
  }

  public func run(_ sql: String, _ values: [SQLValue]) throws {
    let begins = sql.hasPrefix("BEGIN")
    if begins { isReadOnly = sql.hasSuffix("READ ONLY") }
    if sql == "COMMIT", isReadOnly, isInTransaction, unanswered.isEmpty {
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
          + "statements failed (COMMIT)", dialect: .postgresql)
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
    var wait = Waiting(
      cancels: sql != "COMMIT" && sql != "ROLLBACK",
      end: ContinuousClock.now + answerTimeout)
    for message in sent {
      let statement =
        switch message {
        case .statement(let statement): statement
        case .preparation(let kept): kept.sql
        case .sync: sql
        }
      try self.wait(&wait, for: statement)
      let result = library.result(connection)
      // The answer to a sync shows whether a transaction is in progress.
      if case .sync = message {
        defer { library.clear(result) }
        if library.resultStatus(result) == PostgreSQLConnection.synced {
          continue
        }
        // The server ended the session between a commit and its sync, and
        // answers nothing more.
        isAbandoned = true
        library.clear(last)
        throw failed ?? failure(result, statement)
      }
      let failure = error(result, statement, wasCanceled: wait.isCanceled)
      failed = failed ?? failure
      // After an error, the server skips the rest of a batch.
      if case .preparation(let statement) = message, failure != nil {
        kept?[statement] = nil
      }
      // A prepared statement is missing on the server, or its result changed.
      if [.other("26000"), .other("0A000")].contains(failure?.code) {
        kept = kept.map { _ in [:] }
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

  /// The status of the answer to a sync.
  private static let synced: Int32 = 10

  private func send(_ sql: String, _ values: [SQLValue]) throws(SQLError) {
    try SQLError.check(sql)
    if isAbandoned {
      throw SQLError(
        .disconnected, "PostgreSQL: no answer before (\(sql))",
        dialect: .postgresql)
    }
    let (types, contents) = (values.map(\.type), values.map(\.content))
    let count = Int32(values.count)
    let lengths = contents.map { Int32(clamping: $0?.count ?? 0) }
    let formats = [Int32](repeating: 1, count: values.count)
    let name = try keep(KeptStatement(sql: sql, types: types))
    let isSent = withAddresses(of: contents) { addresses in
      if let name {
        library.sendPrepared(
          connection, name, count, addresses, lengths, formats, 1)
      } else {
        library.send(
          connection, sql, count, types, addresses, lengths, formats, 1)
      }
    }
    if isSent == 0 { throw failure(nil, sql) }
    unanswered.append(.statement(sql))
  }

  /// Makes the server keep the statements and their plans, unless a pooler
  /// could give the connection to another session.
  ///
  /// The number of different statements must be small.
  ///
  /// - Returns: Whether the connection has a session of its own.
  package func keepStatements() throws -> Bool {
    // A pooler shows a number of its own for the server's process.
    let process = try integer("SELECT pg_backend_pid()")
    guard process == Int64(library.serverProcess(connection)) else {
      return false
    }
    kept = kept ?? [:]
    return true
  }

  /// Sends a statement to keep, unless it was sent before.
  ///
  /// - Returns: The name of the statement, or `nil` if none are kept.
  private func keep(_ statement: KeptStatement) throws(SQLError) -> String? {
    guard let kept else { return nil }
    if let name = kept[statement] { return name }
    names += 1
    let name = "rejoin_\(names)"
    let isSent = library.prepare(
      connection, name, statement.sql, Int32(statement.types.count),
      statement.types)
    if isSent == 0 { throw failure(nil, statement.sql) }
    unanswered.append(.preparation(statement))
    self.kept?[statement] = name
    return name
  }

  /// The state of a wait for answers.
  private struct Waiting {
    /// Whether to ask the server to cancel when the wait ends early.
    let cancels: Bool
    /// The time to give up, which data from or to the server defer until the
    /// task is canceled.
    var end: ContinuousClock.Instant
    var isCanceled = false
  }

  /// Waits until the next answer can be read.
  private func wait(
    _ waiting: inout Waiting, for sql: String
  ) throws(SQLError) {
    while library.isBusy(connection) == 1 {
      let rest = library.flush(connection)
      if rest < 0 { throw failure(nil, sql) }
      if waits(for: Int16(rest == 0 ? POLLIN : POLLIN | POLLOUT)) {
        if library.consumeInput(connection) == 0 { throw failure(nil, sql) }
        if !waiting.isCanceled {
          waiting.end = ContinuousClock.now + answerTimeout
        }
      }
      if ContinuousClock.now > waiting.end { throw abandon(waiting, sql) }
      if waiting.cancels, !waiting.isCanceled, isCanceled {
        waiting.isCanceled = true
        waiting.end = min(waiting.end, ContinuousClock.now + .seconds(4))
        cancel(until: waiting.end)
      }
    }
  }

  /// Gives up a wait for an answer.
  private func abandon(_ waiting: Waiting, _ sql: String) -> SQLError {
    isAbandoned = true
    if waiting.isCanceled {
      return SQLError(
        .canceled, "PostgreSQL: no answer (\(sql))", dialect: .postgresql)
    }
    // Otherwise, the statement could continue, and a repeated request would
    // wait for its locks.
    if waiting.cancels { cancel(until: .now) }
    return SQLError(
      .disconnected,
      "PostgreSQL: the server did not answer in \(answerTimeout) (\(sql))",
      dialect: .postgresql)
  }

  /// Asks the server to cancel the current statement.
  private func cancel(until end: ContinuousClock.Instant) {
    isUncertain = true
    let library = library
    nonisolated(unsafe) let request = library.getCancel(connection)
    let call = BlockingCall {
      var reason = [CChar](repeating: 0, count: 256)
      _ = library.cancel(request, &reason, 256)
      library.freeCancel(request)
    }
    _ = call.result(until: end, stopsIfCanceled: false)
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
    return SQLError(
      code, "PostgreSQL: \(message) (\(sql))", dialect: .postgresql)
  }

  private var message: String {
    let text = library.message(connection).map { String(cString: $0) }
    return (text ?? "no memory").split(whereSeparator: \.isNewline)
      .joined(separator: " ")
  }
}
