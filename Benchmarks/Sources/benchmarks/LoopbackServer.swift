// SPDX-License-Identifier: Apache-2.0

import Foundation
import Harness

/// An HTTP/1.1 server on the loopback interface that keeps connections open.
///
/// Each connection has a thread, which reads the length of a body from its
/// `Content-Length`.
final class LoopbackServer: Sendable {
  /// The address of the server, for any path.
  let url: URL
  private let listener: Int32

  /// Creates a server.
  ///
  /// - Parameter answer: A closure that receives the body of a request and
  ///   returns the body of the response.
  init(answer: @escaping @Sendable ([UInt8]) async -> [UInt8]) throws {
    // 1 is SOCK_STREAM, whose type differs between systems.
    let listener = socket(AF_INET, 1, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutableBytes(of: &address) { bytes in
      let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
      return bind(listener, address, size) == 0 && listen(listener, 128) == 0
        && getsockname(listener, address, &size) == 0
    }
    let port = UInt16(bigEndian: address.sin_port)
    guard isBound, let url = URL(string: "http://127.0.0.1:\(port)/") else {
      throw HarnessError("the loopback interface has no free port")
    }
    (self.listener, self.url) = (listener, url)
    signal(SIGPIPE, SIG_IGN)
    Thread.detachNewThread {
      while true {
        let file = accept(listener, nil, nil)
        if file < 0 { return }
        Thread.detachNewThread { Connection(file: file).serve(answer) }
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }
}

/// A connection of a client, which lasts until the client closes it.
private final class Connection {
  private let file: Int32
  /// The bytes that arrived and were not read.
  private var bytes: [UInt8] = []
  private var buffer = [UInt8](repeating: 0, count: 1 << 18)

  init(file: Int32) {
    self.file = file
    var yes = 1 as Int32
    setsockopt(file, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, 4)
  }

  deinit { close(file) }

  func serve(_ answer: @escaping @Sendable ([UInt8]) async -> [UInt8]) {
    while let request = nextRequest() {
      guard let body = try? blocking({ await answer(request) }) else { return }
      let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
        + "Content-Length: \(body.count)\r\n\r\n"
      if !send(Array(head.utf8) + body) { return }
    }
  }

  /// Returns the body of the next request, or `nil` at the end.
  private func nextRequest() -> [UInt8]? {
    var end = endOfHead
    while end == nil {
      if !receive() { return nil }
      end = endOfHead
    }
    let start = end ?? 0
    let lines = String(decoding: bytes[..<start], as: UTF8.self).lowercased()
      .split(separator: "\r\n")
    let length = lines.first { $0.hasPrefix("content-length:") }
    let count = Int(length?.split(separator: " ").last ?? "0") ?? 0
    if lines.contains("expect: 100-continue"), bytes.count < start + count {
      if !send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) { return nil }
    }
    while bytes.count < start + count {
      if !receive() { return nil }
    }
    let body = Array(bytes[start..<(start + count)])
    bytes.removeFirst(start + count)
    return body
  }

  /// The end of the empty line after the headers, or `nil`.
  private var endOfHead: Int? {
    guard bytes.count >= 4 else { return nil }
    return (4...bytes.count).first {
      bytes[$0 - 4] == 13 && bytes[$0 - 3] == 10 && bytes[$0 - 2] == 13
        && bytes[$0 - 1] == 10
    }
  }

  /// Returns whether bytes arrived.
  private func receive() -> Bool {
    let count = recv(file, &buffer, buffer.count, 0)
    if count > 0 { bytes += buffer[..<count] }
    return count > 0
  }

  /// Returns whether all bytes were sent.
  private func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Foundation.send(
          file, $0.baseAddress?.advanced(by: sent), $0.count - sent, 0)
      }
      if count <= 0 { return false }
      sent += count
    }
    return true
  }
}
