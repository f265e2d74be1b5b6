// SPDX-License-Identifier: Apache-2.0

/// The functions of the system's SQLite, which the Swift toolchain itself needs on
/// Linux.
struct SQLiteLibrary: @unchecked Sendable {
  typealias Database = OpaquePointer
  typealias Statement = OpaquePointer

  let open:
    @convention(c) (
      UnsafePointer<CChar>, UnsafeMutablePointer<Database?>, Int32,
      UnsafePointer<CChar>?
    ) -> Int32
  let close: @convention(c) (Database?) -> Int32
  let prepare:
    @convention(c) (
      Database?, UnsafePointer<CChar>, Int32, UInt32,
      UnsafeMutablePointer<Statement?>, UnsafeMutableRawPointer?
    ) -> Int32
  let step: @convention(c) (Statement?) -> Int32
  let reset: @convention(c) (Statement?) -> Int32
  let finalize: @convention(c) (Statement?) -> Int32
  let bindInteger: @convention(c) (Statement?, Int32, Int64) -> Int32
  /// The last parameter tells who frees the bytes: −1 has them copied.
  let bindBytes:
    @convention(c) (Statement?, Int32, UnsafeRawPointer?, Int32, Int) -> Int32
  let integer: @convention(c) (Statement?, Int32) -> Int64
  let bytes: @convention(c) (Statement?, Int32) -> UnsafeRawPointer?
  let count: @convention(c) (Statement?, Int32) -> Int32
  let message: @convention(c) (Database?) -> UnsafePointer<CChar>?
  let setTimeout: @convention(c) (Database?, Int32) -> Int32

  /// The library, or why there is none.
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
    bindInteger = try library.function("sqlite3_bind_int64")
    bindBytes = try library.function("sqlite3_bind_blob")
    integer = try library.function("sqlite3_column_int64")
    bytes = try library.function("sqlite3_column_blob")
    count = try library.function("sqlite3_column_bytes")
    message = try library.function("sqlite3_errmsg")
    setTimeout = try library.function("sqlite3_busy_timeout")
  }
}
