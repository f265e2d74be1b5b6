// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinTesting
import Testing
import _RejoinVerification

@testable import RejoinCommand

/// The path of the command, which is built into the folder of the tests.
let rejoinPath = Bundle.module.bundleURL.deletingLastPathComponent()
  .appending(path: "rejoin").path

/// Runs a shell command with a function `rejoin` that runs the command.
///
/// It waits on a thread of its own, because other tests need the shared ones.
func shell(_ text: String, in folder: Folder) async throws -> Printed {
  let url = folder.url
  return try await Thread.run {
    try run(
      URL(filePath: "/bin/bash"),
      ["-c", "rejoin() { '\(rejoinPath)' \"$@\"; }\n\(text)"], in: url,
      ["SWIFT_BACKTRACE": "enable=no"])
  }
}

/// A development server, which ends with this object and with this process.
final class RunningServer {
  let port: UInt16
  private let process = Process()
  private let (input, output) = (Pipe(), Pipe())

  var url: String { "http://127.0.0.1:\(port)/" }

  /// Starts a server with a hub in a folder.
  init(in folder: Folder) throws {
    process.executableURL = URL(filePath: "/bin/sh")
    // The shell stops the server when this process closes the input or dies. It
    // does not wait for it: its signals can be blocked, as those of this thread.
    process.arguments = [
      "-c", "\"$0\" serve hub.sqlite --port 0 & read line; kill -9 $!",
      rejoinPath,
    ]
    process.currentDirectoryURL = folder.url
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    let line = try TestProgram.output(of: output, through: UInt8(ascii: "\n"))
    let text = String(decoding: line, as: UTF8.self)
    let match = text.wholeMatch(
      of:
        /Serving hub\.sqlite at http:\/\/127\.0\.0\.1:([0-9]+)\/\. Stop with Control-C\.\n/
    )
    port = try #require(match.flatMap { UInt16($0.1) }, "\(text)")
  }

  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}

/// A connection to a server on this machine.
///
/// Each call ends after a minute.
final class Client {
  private let file: Int32
  /// Whether the server took all bytes.
  private(set) var hasSentAll = true

  /// Connects to a port, or returns `nil` if the connection is refused.
  init?(_ port: UInt16, at host: String = "127.0.0.1") {
    signal(SIGPIPE, SIG_IGN)
    // 1 is SOCK_STREAM, whose type differs between systems.
    file = socket(AF_INET, 1, 0)
    var (limit, yes) = (timeval(tv_sec: 60, tv_usec: 0), 1 as Int32)
    let size = socklen_t(MemoryLayout<timeval>.size)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(file, SOL_SOCKET, option, &limit, size)
    }
    setsockopt(file, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, 4)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr(host)
    let isConnected = withUnsafeBytes(of: &address) { bytes in
      connect(
        file, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
        socklen_t(bytes.count)) == 0
    }
    if !isConnected { return nil }
  }

  deinit { close(file) }

  /// Sends bytes, or those that the server takes.
  @discardableResult
  func send(_ bytes: some Sequence<UInt8>) -> Client {
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Foundation.send(file, $0.baseAddress, $0.count, 0)
      }
      if count <= 0 {
        hasSentAll = false
        break
      }
      rest = rest.dropFirst(count)
    }
    return self
  }

  /// Returns the response at the end of the connection.
  func response() -> Response {
    var (bytes, buffer) = ([] as [UInt8], [UInt8](repeating: 0, count: 1 << 16))
    while true {
      let count = recv(file, &buffer, buffer.count, 0)
      if count <= 0 { return Response(bytes: bytes, isEnded: count == 0) }
      bytes += buffer[..<count]
    }
  }
}

/// The bytes that a server sent.
struct Response {
  let bytes: [UInt8]
  /// Whether the server closed the connection without an error.
  let isEnded: Bool

  /// The status, or `nil` without a response.
  var status: Int? {
    let line = String(decoding: bytes.prefix(12), as: UTF8.self)
    return line.hasPrefix("HTTP/1.1 ") ? Int(line.suffix(3)) : nil
  }

  /// The bytes after the head, if their number is the declared one.
  var body: [UInt8]? {
    guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else {
      return nil
    }
    let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
    let body = Array(bytes[end.upperBound...])
    return head.contains("\r\nContent-Length: \(body.count)\r\n") ? body : nil
  }
}
