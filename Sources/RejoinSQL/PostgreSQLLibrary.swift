// SPDX-License-Identifier: Apache-2.0

/// The functions of PostgreSQL's client library.
struct PostgreSQLLibrary: @unchecked Sendable {
  typealias Connection = OpaquePointer
  typealias Result = OpaquePointer
  typealias Text = UnsafePointer<CChar>

  let connect: @convention(c) (Text) -> Connection?
  let finish: @convention(c) (Connection?) -> Void
  let status: @convention(c) (Connection?) -> Int32
  let message: @convention(c) (Connection?) -> Text?
  /// Takes the server's notices, which are printed otherwise.
  let setNoticeProcessor:
    @convention(c) (
      Connection?,
      (@convention(c) (UnsafeMutableRawPointer?, Text?) -> Void)?,
      UnsafeMutableRawPointer?
    ) -> UnsafeRawPointer?
  let prepare:
    @convention(c) (
      Connection?, Text, Text, Int32, UnsafePointer<UInt32>?
    ) -> Result?
  let execute:
    @convention(c) (
      Connection?, Text, Int32, UnsafePointer<Text?>?, UnsafePointer<Int32>?,
      UnsafePointer<Int32>?, Int32
    ) -> Result?
  let resultStatus: @convention(c) (Result?) -> Int32
  let resultField: @convention(c) (Result?, Int32) -> Text?
  let clear: @convention(c) (Result?) -> Void
  let rowCount: @convention(c) (Result?) -> Int32
  let value: @convention(c) (Result?, Int32, Int32) -> UnsafeMutableRawPointer?
  let length: @convention(c) (Result?, Int32, Int32) -> Int32

  /// The library, or why there is none.
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
    connect = try library.function("PQconnectdb")
    finish = try library.function("PQfinish")
    status = try library.function("PQstatus")
    message = try library.function("PQerrorMessage")
    setNoticeProcessor = try library.function("PQsetNoticeProcessor")
    prepare = try library.function("PQprepare")
    execute = try library.function("PQexecPrepared")
    resultStatus = try library.function("PQresultStatus")
    resultField = try library.function("PQresultErrorField")
    clear = try library.function("PQclear")
    rowCount = try library.function("PQntuples")
    value = try library.function("PQgetvalue")
    length = try library.function("PQgetlength")
  }
}
