// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RejoinSQL

/// The file of SQLite that an app names, each time in a process of its own.
@Suite struct SQLiteLibraryTests {
  #if canImport(Darwin)
    static let sqlite = "/usr/lib/libsqlite3.dylib"
    static let other = "/usr/lib/libSystem.dylib"
  #else
    static let sqlite = "libsqlite3.so.0"
    static let other = "libm.so.6"
  #endif

  @Test func connectionsUseNamedFile() async {
    await #expect(processExitsWith: .success) {
      try SQLiteConnection.useLibrary(at: Self.sqlite)
      let connection = try SQLiteConnection(opening: ":memory:")
      #expect(try connection.integer("SELECT 1 + 1") == 2)
      // The same file is no second library.
      try SQLiteConnection.useLibrary(at: Self.sqlite)
    }
  }

  @Test func refusedFilesChangeNothing() async {
    await #expect(processExitsWith: .success) {
      for (path, message) in [
        ("/no/such.so", "/no/such.so is not a library that can be opened here"),
        (
          Self.other,
          "\(Self.other) has no sqlite3_open_v2: it is too old, or another library"
        ),
        ("", " is not a library that can be opened here"),
        ("libm.so.6\0", "libm.so.6\0 is not a library that can be opened here"),
      ] {
        let error = #expect(throws: SQLError.self) {
          try SQLiteConnection.useLibrary(at: path)
        }
        #expect(error?.code == .libraryMissing)
        #expect(error?.message == message)
      }
      let connection = try SQLiteConnection(opening: ":memory:")
      #expect(try connection.integer("SELECT 1 + 1") == 2)
    }
  }

  @Test func secondLibraryIsRefused() async {
    await #expect(processExitsWith: .success) {
      let connection = try SQLiteConnection(opening: ":memory:")
      let error = #expect(throws: SQLError.self) {
        try SQLiteConnection.useLibrary(at: Self.sqlite)
      }
      #expect(error?.code == .misused)
      #expect(
        error?.message
          == "this process already uses the system's SQLite; call useLibrary(at:) "
          + "before the first connection is opened")
      #expect(try connection.integer("SELECT 1 + 1") == 2)
    }
  }
}
