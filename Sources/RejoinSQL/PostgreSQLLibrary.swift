// SPDX-License-Identifier: Apache-2.0

/// The functions of PostgreSQL's client library.
struct PostgreSQLLibrary: @unchecked Sendable {
  typealias Connection = OpaquePointer
  typealias Result = OpaquePointer
  typealias Cancel = OpaquePointer
  typealias Text = UnsafePointer<CChar>

  typealias Options = UnsafeMutableRawPointer

  let connectStart:
    @convention(c) (UnsafePointer<Text?>, UnsafePointer<Text?>, Int32) ->
      Connection?
  /// Connects, and returns whether a server answered.
  let ping:
    @convention(c) (UnsafePointer<Text?>, UnsafePointer<Text?>, Int32) -> Int32
  let reset: @convention(c) (Connection?) -> Void
  /// Parses a connection string.
  let parse:
    @convention(c) (
      Text, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) -> Options?
  let options: @convention(c) (Connection?) -> Options?
  let freeOptions: @convention(c) (Options?) -> Void
  let free: @convention(c) (UnsafeMutableRawPointer?) -> Void
  let finish: @convention(c) (Connection?) -> Void
  let status: @convention(c) (Connection?) -> Int32
  let transactionStatus: @convention(c) (Connection?) -> Int32
  let socket: @convention(c) (Connection?) -> Int32
  let message: @convention(c) (Connection?) -> Text?
  let setVerbosity: @convention(c) (Connection?, Int32) -> Int32
  /// Sets the function that receives the server's notices, which libpq
  /// otherwise prints.
  let setNoticeProcessor:
    @convention(c) (
      Connection?,
      (@convention(c) (UnsafeMutableRawPointer?, Text?) -> Void)?,
      UnsafeMutableRawPointer?
    ) -> UnsafeRawPointer?
  let send:
    @convention(c) (
      Connection?, Text, Int32, UnsafePointer<UInt32>?, UnsafePointer<Text?>?,
      UnsafePointer<Int32>?, UnsafePointer<Int32>?, Int32
    ) -> Int32
  let prepare:
    @convention(c) (
      Connection?, Text, Text, Int32, UnsafePointer<UInt32>?
    ) -> Int32
  let sendPrepared:
    @convention(c) (
      Connection?, Text, Int32, UnsafePointer<Text?>?, UnsafePointer<Int32>?,
      UnsafePointer<Int32>?, Int32
    ) -> Int32
  let serverProcess: @convention(c) (Connection?) -> Int32
  let enterPipeline: @convention(c) (Connection?) -> Int32
  let sync: @convention(c) (Connection?) -> Int32
  let setNonblocking: @convention(c) (Connection?, Int32) -> Int32
  let flush: @convention(c) (Connection?) -> Int32
  let consumeInput: @convention(c) (Connection?) -> Int32
  let isBusy: @convention(c) (Connection?) -> Int32
  let result: @convention(c) (Connection?) -> Result?
  let getCancel: @convention(c) (Connection?) -> Cancel?
  let cancel:
    @convention(c) (Cancel?, UnsafeMutablePointer<CChar>?, Int32) -> Int32
  let freeCancel: @convention(c) (Cancel?) -> Void
  let resultStatus: @convention(c) (Result?) -> Int32
  let resultField: @convention(c) (Result?, Int32) -> Text?
  let command: @convention(c) (Result?) -> Text?
  let clear: @convention(c) (Result?) -> Void
  let rowCount: @convention(c) (Result?) -> Int32
  let type: @convention(c) (Result?, Int32) -> UInt32
  let isNull: @convention(c) (Result?, Int32, Int32) -> Int32
  let value: @convention(c) (Result?, Int32, Int32) -> UnsafeMutableRawPointer?
  let length: @convention(c) (Result?, Int32, Int32) -> Int32

  /// The library, or the error from opening it.
  static let shared = Swift.Result { () throws(SQLError) in
    try PostgreSQLLibrary()
  }

  private init() throws(SQLError) {
    let library = try DynamicLibrary(
      [
        "libpq.so.5", "libpq.5.dylib",
        "/opt/homebrew/opt/libpq/lib/libpq.dylib",
        "libpq.so",
      ], title: "PostgreSQL's client library (libpq)", package: "libpq5")
    connectStart = try library.function("PQconnectStartParams")
    ping = try library.function("PQpingParams")
    reset = try library.function("PQreset")
    parse = try library.function("PQconninfoParse")
    options = try library.function("PQconninfo")
    freeOptions = try library.function("PQconninfoFree")
    free = try library.function("PQfreemem")
    finish = try library.function("PQfinish")
    status = try library.function("PQstatus")
    transactionStatus = try library.function("PQtransactionStatus")
    socket = try library.function("PQsocket")
    message = try library.function("PQerrorMessage")
    setVerbosity = try library.function("PQsetErrorVerbosity")
    setNoticeProcessor = try library.function("PQsetNoticeProcessor")
    send = try library.function("PQsendQueryParams")
    prepare = try library.function("PQsendPrepare")
    sendPrepared = try library.function("PQsendQueryPrepared")
    serverProcess = try library.function("PQbackendPID")
    enterPipeline = try library.function("PQenterPipelineMode")
    sync = try library.function("PQpipelineSync")
    setNonblocking = try library.function("PQsetnonblocking")
    flush = try library.function("PQflush")
    consumeInput = try library.function("PQconsumeInput")
    isBusy = try library.function("PQisBusy")
    result = try library.function("PQgetResult")
    getCancel = try library.function("PQgetCancel")
    cancel = try library.function("PQcancel")
    freeCancel = try library.function("PQfreeCancel")
    resultStatus = try library.function("PQresultStatus")
    resultField = try library.function("PQresultErrorField")
    command = try library.function("PQcmdStatus")
    clear = try library.function("PQclear")
    rowCount = try library.function("PQntuples")
    type = try library.function("PQftype")
    isNull = try library.function("PQgetisnull")
    value = try library.function("PQgetvalue")
    length = try library.function("PQgetlength")
  }
}
