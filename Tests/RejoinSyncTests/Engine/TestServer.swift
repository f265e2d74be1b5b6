// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension URLSession {
  /// A session for tests on a machine that does other work.
  static let patient: URLSession = {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 600
    return URLSession(configuration: configuration)
  }()
}

/// A server on the loopback interface that sends what a test wants.
final class TestServer: Sendable {
  /// The bytes that follow a request, and whether the server then closes the
  /// connection.
  struct Response: Sendable {
    var bytes: [UInt8]
    var closes = true

    /// A response with a status and a body.
    init(
      _ status: Int, _ body: [UInt8] = [], headers: [String] = [],
      length: Int? = nil
    ) {
      let head =
        ["HTTP/1.1 \(status) Text", "Content-Length: \(length ?? body.count)"]
        + headers + ["Connection: close", "", ""]
      bytes = Array(head.joined(separator: "\r\n").utf8) + body
    }
  }

  /// A response that never comes.
  static var silence: Response {
    var response = Response(200)
    (response.bytes, response.closes) = ([], false)
    return response
  }

  struct Request: Sendable {
    let head: String
    let body: [UInt8]
  }

  private let socket: Int32
  private let port: UInt16
  /// A closure that answers a request on the thread of its connection.
  private let answer: @Sendable (Request) -> Response
  private let received = Locked<[Request]>([])
  private let left = Locked(0)

  init(
    answer: @escaping @Sendable (Request) -> Response
  ) throws {
    self.answer = answer
    #if canImport(Darwin)
      let stream = SOCK_STREAM
    #else
      let stream = Int32(SOCK_STREAM.rawValue)
    #endif
    let socket = Foundation.socket(AF_INET, stream, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, length) == 0 && listen(socket, 64) == 0
          && getsockname(socket, $0, &length) == 0
      }
    }
    (self.socket, port) = (socket, UInt16(bigEndian: address.sin_port))
    guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
    signal(SIGPIPE, SIG_IGN)
    Thread { [self] in accept() }.start()
  }

  /// Creates a server whose answers need other tasks.
  convenience init(
    awaiting answer: @escaping @Sendable (Request) async -> Response
  ) throws {
    try self.init { request in
      waiting { await answer(request) } ?? Response(500)
    }
  }

  var url: URL { URL(string: "http://127.0.0.1:\(port)/sync")! }
  /// The requests so far.
  var requests: [Request] { received.withLock { $0 } }
  /// The number of connections that the clients closed.
  var leftCount: Int { left.withLock { $0 } }

  func stop() {
    shutdown(socket, Int32(SHUT_RDWR))
    close(socket)
  }

  private func accept() {
    while true {
      let client = Foundation.accept(socket, nil, nil)
      if client < 0 { return }
      Thread { [self] in serve(client) }.start()
    }
  }

  private func serve(_ client: Int32) {
    defer { close(client) }
    guard let request = read(client) else { return }
    received.withLock { $0.append(request) }
    let response = answer(request)
    var rest = response.bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        send(client, $0.baseAddress!, $0.count, 0)
      }
      if count <= 0 { return }
      rest = rest.dropFirst(count)
    }
    if !response.closes, read(client) == nil { left.withLock { $0 += 1 } }
  }

  private func read(_ client: Int32) -> Request? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      if let end = bytes.prefix(1 << 14).firstRange(of: Array("\r\n\r\n".utf8))
      {
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        let length = head.lowercased().split(separator: "\r\n").first {
          $0.hasPrefix("content-length:")
        }
        let count = Int(length?.split(separator: " ").last ?? "0") ?? 0
        let body = bytes[end.upperBound...]
        if body.count >= count { return Request(head: head, body: Array(body)) }
      }
      let count = recv(client, &buffer, buffer.count, 0)
      if count <= 0 { return nil }
      bytes += buffer[..<count]
    }
  }
}

/// Waits on a thread of its own for an asynchronous closure.
private func waiting<Value: Sendable>(
  _ body: @escaping @Sendable () async -> Value
) -> Value? {
  let (done, result) = (DispatchSemaphore(value: 0), Locked<Value?>(nil))
  Task {
    let found = await body()
    result.withLock { $0 = found }
    done.signal()
  }
  done.wait()
  return result.withLock { $0 }
}
