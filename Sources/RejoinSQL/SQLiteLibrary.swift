// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(SQLite3)
  import SQLite3
#endif

/// The functions of SQLite.
///
/// On Apple's platforms, they are those of the system's module. Elsewhere, they are
/// looked up in a file, which on Linux the Swift toolchain itself needs.
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

  #if canImport(SQLite3)
    /// The functions of the system's module.
    private init() throws(SQLError) {
      open = { sqlite3_open_v2($0, $1, $2, $3) }
      close = { sqlite3_close_v2($0) }
      prepare = { sqlite3_prepare_v3($0, $1, $2, $3, $4, $5) }
      step = { sqlite3_step($0) }
      reset = { sqlite3_reset($0) }
      finalize = { sqlite3_finalize($0) }
      placeCount = { sqlite3_bind_parameter_count($0) }
      clearBindings = { sqlite3_clear_bindings($0) }
      bindNull = { sqlite3_bind_null($0, $1) }
      bindInteger = { sqlite3_bind_int64($0, $1, $2) }
      bindDouble = { sqlite3_bind_double($0, $1, $2) }
      bindBytes = {
        sqlite3_bind_blob(
          $0, $1, $2, $3, unsafeBitCast($4, to: sqlite3_destructor_type?.self))
      }
      bindText = {
        sqlite3_bind_text(
          $0, $1, $2, $3, unsafeBitCast($4, to: sqlite3_destructor_type?.self))
      }
      kind = { sqlite3_column_type($0, $1) }
      integer = { sqlite3_column_int64($0, $1) }
      double = { sqlite3_column_double($0, $1) }
      text = { UnsafeRawPointer(sqlite3_column_text($0, $1)) }
      bytes = { sqlite3_column_blob($0, $1) }
      count = { sqlite3_column_bytes($0, $1) }
      message = { sqlite3_errmsg($0) }
      isAutomatic = { sqlite3_get_autocommit($0) }
      setBusyHandler = { sqlite3_busy_handler($0, $1, $2) }
      setAuthorizer = { sqlite3_set_authorizer($0, $1, $2) }
    }
  #else
    /// The functions of the system's library.
    private init() throws(SQLError) {
      try self.init(
        DynamicLibrary(
          ["libsqlite3.so.0", "libsqlite3.dylib", "libsqlite3.so"],
          title: "SQLite's library (libsqlite3)", package: "libsqlite3-0"))
    }
  #endif

  private init(_ library: DynamicLibrary) throws(SQLError) {
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

// MARK: - The library of the process

extension SQLiteLibrary {
  /// The library of the process, because two copies of SQLite break each other's locks.
  private struct Choice {
    /// The file that the app named, or `nil` for the system's.
    var path: String?
    var library: SQLiteLibrary?
  }

  private static let lock = NSLock()
  nonisolated(unsafe) private static var choice = Choice()

  /// The library of this process, which the first call opens.
  static func current() throws(SQLError) -> SQLiteLibrary {
    try lock.withLock {
      Result { () throws(SQLError) in
        if let library = choice.library { return library }
        let library = try SQLiteLibrary()
        choice.library = library
        return library
      }
    }.get()
  }

  /// Makes a file the library of this process.
  static func use(_ path: String) throws(SQLError) {
    try lock.withLock {
      Result { () throws(SQLError) in
        if choice.library != nil {
          if choice.path == path { return }
          throw SQLError(
            .misused,
            "this process already uses \(choice.path ?? "the system's SQLite"); "
              + "call useLibrary(at:) before the first connection is opened")
        }
        choice = Choice(
          path: path,
          library: try SQLiteLibrary(DynamicLibrary(path)))
      }
    }.get()
  }
}
