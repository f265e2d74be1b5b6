// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin

/// An HTTP server on 127.0.0.1 for development.
///
/// Each connection has a thread, and ends after one response.
final class DevelopmentServer: Sendable {
  /// The port, which the system chose if it was 0.
  let port: UInt16
  private let listener: Int32
  private let answer: @Sendable ([UInt8]) async -> [UInt8]
  /// Up to 64 connections in the order of their acceptance, and whether each has
  /// a request that is being answered.
  private let connections = Locked<[(file: Int32, isAnswering: Bool)]>([])

  init(
    port: UInt16, answer: @escaping @Sendable ([UInt8]) async -> [UInt8]
  ) throws(CommandError) {
    // 1 is SOCK_STREAM, whose type differs between systems.
    (listener, self.answer) = (socket(AF_INET, 1, 0), answer)
    _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
    var (address, yes) = (sockaddr_in(), 1 as Int32)
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
    let isBound = withUnsafeMutableBytes(of: &address) { [listener] bytes in
      let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
      return bind(listener, address, size) == 0 && listen(listener, 128) == 0
        && getsockname(listener, address, &size) == 0
    }
    guard isBound else {
      throw .failed("port \(port): \(Files.reason(errno)); use another one")
    }
    self.port = UInt16(bigEndian: address.sin_port)
  }

  /// Serves until the process ends.
  func run() {
    while true {
      let file = accept(listener, nil, nil)
      // Without this pause, a process without free files would not rest.
      if file < 0 { usleep(10_000) } else { open(file) }
    }
  }

  private func open(_ file: Int32) {
    _ = fcntl(file, F_SETFD, FD_CLOEXEC)
    _ = fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK)
    let isFull = connections.withLock { connections in
      if connections.count >= 64 {
        let oldest = connections.firstIndex { !$0.isAnswering }
        guard let oldest else { return true }
        shutdown(connections.remove(at: oldest).file, Int32(SHUT_RDWR))
      }
      connections.append((file, false))
      return false
    }
    if isFull {
      send("503 Service Unavailable", [], to: file)
      return _ = close(file)
    }
    Thread.detachNewThread { [self] in
      serve(file)
      connections.withLock { $0.removeAll { $0.file == file } }
      close(file)
    }
  }

  private func serve(_ file: Int32) {
    do throws(HTTPRefusal) {
      guard let request = try request(on: file), mark(file, isAnswering: true)
      else { return }
      let (done, result) = (DispatchSemaphore(value: 0), Locked<[UInt8]>([]))
      Task {
        let bytes = await answer(request)
        result.withLock { $0 = bytes }
        done.signal()
      }
      done.wait()
      send("200 OK", result.withLock { $0 }, to: file)
      _ = mark(file, isAnswering: false)
    } catch { send(error.status, [], to: file) }
    // Closing a connection with unread bytes would discard the response.
    shutdown(file, Int32(SHUT_WR))
    let end = ContinuousClock.now + .seconds(10)
    while receive(1 << 16, from: file, until: end) != nil {}
  }

  /// Returns whether a connection is still open.
  private func mark(_ file: Int32, isAnswering: Bool) -> Bool {
    connections.withLock { connections in
      let index = connections.firstIndex { $0.file == file }
      if let index { connections[index].isAnswering = isAnswering }
      return index != nil
    }
  }

  /// Returns the body of a request, or `nil` if it does not arrive in time.
  private func request(on file: Int32) throws(HTTPRefusal) -> [UInt8]? {
    let end = ContinuousClock.now + .seconds(10)
    var (bytes, head, rest) = ([] as [UInt8], nil as HTTPHead?, 1 << 14)
    while let piece = receive(min(rest, 1 << 18), from: file, until: end) {
      bytes += piece
      if head == nil { head = try HTTPHead(startOf: bytes) }
      guard let body = head?.body else { continue }
      rest = body.upperBound - bytes.count
      if rest <= 0 { return Array(bytes[body]) }
    }
    return nil
  }

  private func receive(
    _ count: Int, from file: Int32, until end: ContinuousClock.Instant
  ) -> [UInt8]? {
    guard waits(for: POLLIN, of: file, until: end) else { return nil }
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, size in
      size = max(recv(file, buffer.baseAddress, count, 0), 0)
    }
    return bytes.isEmpty ? nil : bytes
  }

  private func send(_ status: String, _ body: [UInt8], to file: Int32) {
    let end = ContinuousClock.now + .seconds(30)
    let head = """
      HTTP/1.1 \(status)\r\nContent-Type: application/octet-stream\r\n\
      Content-Length: \(body.count)\r\nAllow: POST\r\nConnection: close\r\n\r\n
      """
    var rest = (head.utf8 + body)[...]
    while !rest.isEmpty, waits(for: POLLOUT, of: file, until: end) {
      let count = rest.withUnsafeBytes {
        Foundation.send(file, $0.baseAddress, $0.count, 0)
      }
      if count <= 0 { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Waits until bytes can be read or written, but not beyond a time.
  private func waits(
    for events: Int32, of file: Int32, until end: ContinuousClock.Instant
  ) -> Bool {
    var files = [pollfd(fd: file, events: Int16(events), revents: 0)]
    let wait = max(end - .now, .zero) / .milliseconds(1)
    return poll(&files, 1, Int32(wait)) == 1 && ContinuousClock.now < end
  }
}
