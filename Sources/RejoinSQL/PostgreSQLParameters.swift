// SPDX-License-Identifier: Apache-2.0

/// The parameters of a connection to PostgreSQL.
struct PostgreSQLParameters: Sendable {
  private let text: String
  private let library: PostgreSQLLibrary
  /// The maximum number of seconds to wait for each host.
  private let secondsPerHost: String

  /// Parses a connection string.
  ///
  /// - Parameter timeout: The maximum time to wait for all hosts.
  /// - Throws: ``SQLError`` if the string cannot be parsed. The error contains
  ///   neither the string nor the message of libpq, because both can contain a
  ///   part of the password.
  init(
    _ text: String, timeout: Duration, _ library: PostgreSQLLibrary
  ) throws(SQLError) {
    (self.text, self.library) = (text, library)
    guard PostgreSQLParameters.isClear(text, library) else {
      throw PostgreSQLParameters.unclear
    }
    let settings = PostgreSQLParameters.settings(of: text, library)
    func list(_ name: String) -> [Substring] {
      settings[name, default: ""].split(
        separator: ",", omittingEmptySubsequences: false)
    }
    // A password without a host after it looks like a port.
    guard list("port").allSatisfy({ $0.isEmpty || Int($0) != nil }) else {
      throw PostgreSQLParameters.unclear
    }
    // After a wrong separator, it belongs to the value before it.
    let values = ["dbname", "host", "user"].compactMap { settings[$0] }
    for mark in ["password=", "://"]
    where values.contains(where: { $0.contains(mark) }) {
      throw PostgreSQLParameters.unclear
    }
    let hosts = max(list("host").count, list("hostaddr").count)
    let limit = Int(clamping: min(timeout.components.seconds, 1 << 30)) + 1
    guard let passed = Int(settings["connect_timeout", default: "0"]) else {
      throw SQLError(
        .cannotOpen,
        "PostgreSQL: connect_timeout must be a number of seconds without a unit",
        dialect: .postgresql)
    }
    let seconds = passed > 0 ? min(passed, limit) : limit / hosts
    secondsPerHost = "\(max(seconds, 2))"
  }

  private static let unclear = SQLError(
    .cannotOpen,
    "PostgreSQL: the connection string cannot be parsed; it must have the "
      + "form `host=… dbname='…'` or `postgresql://user@host/database`, with "
      + "%40 for `@` and %2F for `/` in a password",
    dialect: .postgresql)

  /// Whether a text is a connection string, and its password cannot be confused
  /// with a host.
  private static func isClear(
    _ text: String, _ library: PostgreSQLLibrary
  ) -> Bool {
    if text.utf8.contains(0) { return false }
    var message: UnsafeMutablePointer<CChar>?
    let options = library.parse(text, &message)
    library.free(message)
    library.freeOptions(options)
    return options != nil && !isAmbiguous(text)
  }

  /// Whether a URL has an `@` after the first `@` or `/`.
  ///
  /// The first one may belong to the password, whose rest libpq would then read
  /// as the host.
  private static func isAmbiguous(_ text: String) -> Bool {
    let schemes = ["postgresql://", "postgres://"]
    guard let scheme = schemes.first(where: text.hasPrefix) else {
      return false
    }
    let rest = text.dropFirst(scheme.count)
    guard let end = rest.firstIndex(where: { "@/".contains($0) }) else {
      return false
    }
    return rest[end...].dropFirst().prefix { $0 != "?" }.contains("@")
  }

  /// Returns the settings of a connection string, and those that its service
  /// and the environment add.
  private static func settings(
    of text: String, _ library: PostgreSQLLibrary
  ) -> [String: String] {
    // libpq resolves the settings, and then refuses the mode instead of
    // connecting.
    let probe = call(library.connectStart, text, setting: "sslmode", "none")
    defer { library.finish(probe) }
    let options = library.options(probe)
    defer { library.freeOptions(options) }
    var settings: [String: String] = [:]
    var option = options?.assumingMemoryBound(to: Option.self)
    while let current = option, let name = current.pointee.name {
      settings[String(cString: name)] =
        current.pointee.value.map { String(cString: $0) }
      option = current + 1
    }
    return settings
  }

  /// The structure `PQconninfoOption`.
  private struct Option {
    let name: UnsafePointer<CChar>?
    let variable, standard: UnsafePointer<CChar>?
    let value: UnsafePointer<CChar>?
    let label, display: UnsafePointer<CChar>?
    let size: Int32
  }

  /// Calls a function of libpq with a connection string.
  ///
  /// - Parameters:
  ///   - setting: The name of a setting.
  ///   - value: The value that replaces the one of the string, or an empty text.
  private static func call<Result>(
    _ function: (
      UnsafePointer<PostgreSQLLibrary.Text?>,
      UnsafePointer<PostgreSQLLibrary.Text?>, Int32
    ) -> Result, _ text: String, setting: String, _ value: String
  ) -> Result {
    "dbname".withCString { first in
      setting.withCString { second in
        text.withCString { text in
          value.withCString { value in
            // 1: The name of the database can be a connection string.
            function([first, second, nil], [text, value, nil], 1)
          }
        }
      }
    }
  }

  /// Connects to the first host that answers, which blocks.
  ///
  /// - Returns: A connection, which can be one that failed, and whether libpq
  ///   accepted the settings.
  func connect() -> (connection: OpaquePointer?, isValid: Bool) {
    let connection = PostgreSQLParameters.call(
      library.connectStart, text, setting: "connect_timeout", secondsPerHost)
    guard library.status(connection) != 1 else {
      // 3: libpq did not try to connect.
      let reached = PostgreSQLParameters.call(
        library.ping, text, setting: "connect_timeout", secondsPerHost)
      return (connection, reached != 3)
    }
    // A library must not print notices. Errors contain the same information.
    _ = library.setNoticeProcessor(connection, { _, _ in }, nil)
    // With this verbosity, error messages contain a code after the severity.
    let verbosity = library.setVerbosity(connection, 2)
    // Only a blocking call obeys `connect_timeout`, and of these, only this one
    // connects with the verbosity.
    library.reset(connection)
    _ = library.setVerbosity(connection, verbosity)
    return (connection, true)
  }
}
