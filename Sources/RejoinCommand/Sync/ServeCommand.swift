// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinSQL
import RejoinStore
import RejoinSync

/// `rejoin serve` answers the requests of devices from a hub.
struct ServeCommand {
  static let command = Command(
    name: "serve",
    purpose: "answer the sync requests of devices from a hub",
    usage: "FILE (--stdio | --port N)",
    discussion: """
      FILE is the SQLite file of a hub, which is created if it does not exist, or a
      postgresql:// URL. A user who can start the command or reach its port may read
      and write every scope of the hub.

      With --stdio, each request and each answer follows its length, as a varint.
      The command ends with its input. Devices can use it through ssh:

        rejoin sync notes.sqlite 'ssh host rejoin serve --stdio hub.sqlite'

      With --port, a request is the body of a POST to 127.0.0.1. This server is for
      development on one machine, and not for the internet: it has no encryption
      and no users.
      """,
    sections: [
      .init(
        title: "OPTIONS",
        options: [
          .init(
            flag: "stdio",
            "requests on standard input, and answers on standard output"),
          .init(
            "port", "N",
            "number of the port on 127.0.0.1 (0–65535); 0 takes a free one"),
        ])
    ],
    examples: [
      "serve --port 8080 hub.sqlite",
      "sync notes.sqlite http://127.0.0.1:8080/",
    ],
    run: { try await ServeCommand($0).run() })

  private let file: String
  /// The port, or `nil` for standard input and output.
  private let port: UInt16?

  /// Whether the file is the URL of a PostgreSQL database.
  private var isURL: Bool {
    ["postgresql://", "postgres://"].contains(where: file.hasPrefix)
  }
  /// The name of the hub in messages, without the password in a URL.
  private var name: String { isURL ? "the PostgreSQL database" : file }

  /// Reads the arguments of `serve`.
  init(_ arguments: Arguments) throws(CommandError) {
    file = try arguments.file(of: "serve")
    if ["", "-", ":memory:"].contains(file) {
      throw .usage("a hub cannot be in \"\(file)\"; name a file or a database")
    }
    port = try arguments.integer("port", in: 0...UInt16.max)
    if arguments.has("stdio") == (port != nil) {
      throw .usage("serve needs one of --stdio and --port; give one of them")
    }
  }

  /// Answers requests until the input ends, or until the process is stopped.
  func run() async throws {
    let hub: Hub
    do {
      hub = try await Hub(connections: port == nil ? 1 : 8) { [self] in
        try connect()
      }
    } catch { throw CommandError.failed("\(name): \(error)") }
    // A user who can start the command can read and write the file anyway.
    let session = hub.makeSession { _ in }
    if let port {
      let server = try DevelopmentServer(port: port, answer: session.answer)
      Terminal.write(
        "Serving \(name) at http://127.0.0.1:\(server.port)/. Stop with "
          + "Control-C.\n")
      try await Thread.run { server.run() }
    } else {
      try await answer(session)
    }
  }

  private func answer(_ session: HubSession) async throws {
    let pipe = MessagePipe(input: STDIN_FILENO, output: STDOUT_FILENO)
    while let request = try await read(pipe) {
      let answer = await session.answer(request)
      do { try await pipe.write(answer) } catch let error as POSIXError {
        throw CommandError.failed(
          "cannot write to standard output: "
            + "\(Files.reason(error.code.rawValue)); read each answer")
      }
    }
  }

  private func read(_ pipe: MessagePipe) async throws -> [UInt8]? {
    do { return try await pipe.read() } catch let error as WireError {
      throw CommandError.failed(
        error.code == .truncated
          ? "standard input ends inside a message; send each message completely"
          : "the length of a message is above the limit of 40 MiB; send each "
            + "message after its length as a varint")
    } catch let error as POSIXError {
      throw CommandError.failed(
        "standard input cannot be read: "
          + "\(Files.reason(error.code.rawValue)); connect it to a pipe")
    }
  }

  private func connect() throws -> any SQLConnection {
    if isURL { return try PostgreSQLConnection(file) }
    let connection = try SQLiteConnection(opening: file)
    try connection.run("PRAGMA journal_mode = WAL")
    try connection.run("PRAGMA synchronous = FULL")
    return connection
  }
}
