// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The functions of the system's SQLite.
///
/// Its library is opened at run time, so that neither a header nor an entry in a
/// manifest is needed. On Linux, the Swift toolchain itself needs it.
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

  private static let names = [
    "libsqlite3.so.0", "libsqlite3.dylib", "libsqlite3.so",
  ]

  /// The library, or why there is none.
  static let shared = Result { () throws(SQLError) in try SQLiteLibrary() }

  private init() throws(SQLError) {
    var handle: UnsafeMutableRawPointer?
    for name in SQLiteLibrary.names where handle == nil {
      handle = dlopen(name, RTLD_NOW)
    }
    guard let handle else {
      throw SQLError(
        .libraryMissing,
        "SQLite's library (libsqlite3) is not installed; on Debian and Ubuntu "
          + "it is in the package libsqlite3-0")
    }
    func symbol<Function>(
      _ name: String, _: Function.Type = Function.self
    ) throws(SQLError) -> Function {
      guard let pointer = dlsym(handle, "sqlite3_\(name)") else {
        throw SQLError(
          .libraryMissing, "SQLite's library is too old: it has no \(name)")
      }
      return unsafeBitCast(pointer, to: Function.self)
    }
    open = try symbol("open_v2")
    close = try symbol("close_v2")
    prepare = try symbol("prepare_v3")
    step = try symbol("step")
    reset = try symbol("reset")
    finalize = try symbol("finalize")
    bindInteger = try symbol("bind_int64")
    bindBytes = try symbol("bind_blob")
    integer = try symbol("column_int64")
    bytes = try symbol("column_blob")
    count = try symbol("column_bytes")
    message = try symbol("errmsg")
    setTimeout = try symbol("busy_timeout")
  }
}
