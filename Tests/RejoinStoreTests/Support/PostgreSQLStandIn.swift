// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinSQL

@testable import Rejoin

/// A server on its own port with the part of PostgreSQL's protocol that the
/// tests need.
final class PostgreSQLStandIn: Sendable {
  struct Failure {
    let state: String
    let text: String
  }

  enum Behavior {
    /// It accepts connections and never answers.
    case silent
    /// It connects, and then neither reads nor answers.
    case silentLater
    /// It refuses connections.
    case refusing(Failure)
    /// It connects, and all statements fail after notices, one each second.
    case failing(Failure, notices: Int = 0)
    /// It answers two statements, and ends the session between the next one and
    /// its sync.
    case ending(Failure)
  }

  /// Whether libpq is installed.
  static let hasClient: Bool = {
    do throws(SQLError) { _ = try PostgreSQLConnection("?") } catch {
      return error.code != .libraryMissing
    }
    return true
  }()

  let port: Int
  /// Connects as a user, without files and features that differ between
  /// machines.
  var parameters: String {
    "host=127.0.0.1 port=\(port) user=ada password=hunter2 dbname=notes "
      + "sslmode=disable gssencmode=disable"
  }
  /// The number of clients that connected and then closed their connection.
  var closed: Int { state.withLock { $0.closed } }

  private struct State {
    var isStopped = false
    var isAnswering: Bool
    var closed = 0
  }
  private let state: Locked<State>

  /// - Parameter isAnswering: Whether it answers before ``answer()`` is called.
  init(_ behavior: Behavior, isAnswering: Bool = true) throws {
    #if canImport(Darwin)
      let type = SOCK_STREAM
    #else
      let type = Int32(SOCK_STREAM.rawValue)
    #endif
    // A client that closed its connection must not end the tests.
    signal(SIGPIPE, SIG_IGN)
    let listener = socket(AF_INET, type, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    guard isBound, listen(listener, 64) == 0 else {
      throw POSIXError(.EADDRINUSE)
    }
    port = Int(UInt16(bigEndian: address.sin_port))
    state = Locked(State(isAnswering: isAnswering))
    let state = state
    Thread.detachNewThread {
      while !state.withLock(\.isStopped) {
        guard PostgreSQLStandIn.isReady(listener) else { continue }
        let client = accept(listener, nil, nil)
        Thread.detachNewThread {
          PostgreSQLStandIn.serve(client, behavior, state)
          close(client)
        }
      }
      close(listener)
    }
  }

  func stop() { state.withLock { $0.isStopped = true } }

  func answer() { state.withLock { $0.isAnswering = true } }

  private static func isReady(_ socket: Int32) -> Bool {
    var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 20) > 0
  }

  private static func serve(
    _ client: Int32, _ behavior: Behavior, _ state: Locked<State>
  ) {
    func hold(while condition: (State) -> Bool = { _ in true }) {
      while state.withLock({ !$0.isStopped && condition($0) }) {
        usleep(20_000)
      }
    }
    /// Reads what arrives next, or returns an empty array at the end.
    func read() -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: 65_536)
      while !state.withLock(\.isStopped) {
        guard isReady(client) else { continue }
        return Array(bytes.prefix(max(recv(client, &bytes, bytes.count, 0), 0)))
      }
      return []
    }
    func write(_ messages: [UInt8]...) {
      let bytes = messages.flatMap { $0 }
      _ = send(client, bytes, bytes.count, 0)
    }

    let start = read()
    if start.isEmpty { return }
    if case .silent = behavior { return hold() }
    // A request to cancel has 16 bytes.
    if start.count == 16 { return hold() }
    hold { !$0.isAnswering }
    if case .refusing(let failure) = behavior {
      return write(message("E", text(failure, "FATAL")))
    }
    let ready = message("Z", [UInt8(ascii: "I")])
    write(
      message("R", [0, 0, 0, 0]), message("K", [0, 0, 0, 1, 0, 0, 0, 2]),
      ready)
    if case .silentLater = behavior { return hold() }
    if case .ending(let failure) = behavior {
      let done = [
        message("1", []), message("2", []), message("n", []),
        message("C", Array("DONE\0".utf8)),
      ].flatMap { $0 }
      _ = read()
      write(done, done, message("Z", [UInt8(ascii: "T")]))
      _ = read()
      write(done, message("E", text(failure, "FATAL")))
      // The client reads this before the end.
      usleep(200_000)
      return
    }
    while true {
      let bytes = read()
      if bytes.isEmpty || bytes.first == UInt8(ascii: "X") {
        return state.withLock { $0.closed += 1 }
      }
      if case .failing(let failure, let notices) = behavior {
        for _ in 0..<notices {
          sleep(1)
          write(message("N", text(failure, "NOTICE")))
        }
        write(message("E", text(failure, "ERROR")), ready)
      }
    }
  }

  private static func message(
    _ kind: Unicode.Scalar, _ content: [UInt8]
  ) -> [UInt8] {
    let length = UInt32(content.count + 4)
    return [UInt8(ascii: kind)]
      + withUnsafeBytes(of: length.bigEndian, Array.init) + content
  }

  private static func text(_ failure: Failure, _ severity: String) -> [UInt8] {
    let fields = [
      "S\(severity)", "V\(severity)", "C\(failure.state)", "M\(failure.text)",
    ]
    return fields.flatMap { Array($0.utf8) + [0] } + [0]
  }
}
