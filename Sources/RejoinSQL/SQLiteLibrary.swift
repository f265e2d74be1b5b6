// SPDX-License-Identifier: Apache-2.0

/// The functions of the system's SQLite.
///
/// On Linux, the Swift toolchain itself needs this library.
struct SQLiteLibrary: @unchecked Sendable {
  typealias Database = OpaquePointer
  typealias Statement = OpaquePointer
  typealias Text = UnsafePointer<CChar>
  typealias Context = UnsafeMutableRawPointer

  let open:
    @convention(c) (
      Text, UnsafeMutablePointer<Database?>, Int32, Text?
    ) -> Int32
  let close: @convention(c) (Database?) -> Int32
  /// The last parameter receives the end of the first statement.
  let prepare:
    @convention(c) (
      Database?, Text, Int32, UInt32, UnsafeMutablePointer<Statement?>,
      UnsafeMutablePointer<Text?>?
    ) -> Int32
  let step: @convention(c) (Statement?) -> Int32
  let reset: @convention(c) (Statement?) -> Int32
  let finalize: @convention(c) (Statement?) -> Int32
  let placeCount: @convention(c) (Statement?) -> Int32
  let clearBindings: @convention(c) (Statement?) -> Int32
  let bindNull: @convention(c) (Statement?, Int32) -> Int32
  let bindInteger: @convention(c) (Statement?, Int32, Int64) -> Int32
  let bindDouble: @convention(c) (Statement?, Int32, Double) -> Int32
  /// If the last parameter is −1, SQLite copies the bytes.
  let bindBytes:
    @convention(c) (Statement?, Int32, UnsafeRawPointer?, Int32, Int) -> Int32
  let bindText:
    @convention(c) (Statement?, Int32, UnsafeRawPointer?, Int32, Int) -> Int32
  let kind: @convention(c) (Statement?, Int32) -> Int32
  let integer: @convention(c) (Statement?, Int32) -> Int64
  let double: @convention(c) (Statement?, Int32) -> Double
  let text: @convention(c) (Statement?, Int32) -> UnsafeRawPointer?
  let bytes: @convention(c) (Statement?, Int32) -> UnsafeRawPointer?
  let count: @convention(c) (Statement?, Int32) -> Int32
  let message: @convention(c) (Database?) -> Text?
  /// Returns zero while a transaction is in progress.
  let isAutomatic: @convention(c) (Database?) -> Int32
  /// Sets the function that decides whether to wait for a busy lock again.
  let setBusyHandler:
    @convention(c) (
      Database?, (@convention(c) (Context?, Int32) -> Int32)?, Context?
    ) -> Int32
  /// Sets the function that decides whether a statement may perform an action.
  ///
  /// SQLite calls it while it prepares the statement.
  let setAuthorizer:
    @convention(c) (
      Database?,
      (@convention(c) (Context?, Int32, Text?, Text?, Text?, Text?) -> Int32)?,
      Context?
    ) -> Int32

  /// The library, or the error from opening it.
  static let shared = Result { () throws(SQLError) in try SQLiteLibrary() }

  private init() throws(SQLError) {
    let library = try DynamicLibrary(
      ["libsqlite3.so.0", "libsqlite3.dylib", "libsqlite3.so"],
      title: "SQLite's library (libsqlite3)", package: "libsqlite3-0")
    open = try library.function("sqlite3_open_v2")
    close = try library.function("sqlite3_close_v2")
    prepare = try library.function("sqlite3_prepare_v3")
    step = try library.function("sqlite3_step")
    reset = try library.function("sqlite3_reset")
    finalize = try library.function("sqlite3_finalize")
    placeCount = try library.function("sqlite3_bind_parameter_count")
    clearBindings = try library.function("sqlite3_clear_bindings")
    bindNull = try library.function("sqlite3_bind_null")
    bindInteger = try library.function("sqlite3_bind_int64")
    bindDouble = try library.function("sqlite3_bind_double")
    bindBytes = try library.function("sqlite3_bind_blob")
    bindText = try library.function("sqlite3_bind_text")
    kind = try library.function("sqlite3_column_type")
    integer = try library.function("sqlite3_column_int64")
    double = try library.function("sqlite3_column_double")
    text = try library.function("sqlite3_column_text")
    bytes = try library.function("sqlite3_column_blob")
    count = try library.function("sqlite3_column_bytes")
    message = try library.function("sqlite3_errmsg")
    isAutomatic = try library.function("sqlite3_get_autocommit")
    setBusyHandler = try library.function("sqlite3_busy_handler")
    setAuthorizer = try library.function("sqlite3_set_authorizer")
  }
}
