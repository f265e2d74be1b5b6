// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinSync

/// Messages in the pipe form, from a file and to another one.
///
/// Each call runs on a thread of its own, because it can block for hours. Only one
/// call may run at a time.
final class MessagePipe: @unchecked Sendable {
  private let input: Int32
  private let output: Int32
  private var stream = MessageStream()
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// Creates a pipe of two open files, which the caller closes.
  init(input: Int32, output: Int32) {
    (self.input, self.output) = (input, output)
  }

  /// Reads the next message.
  ///
  /// - Returns: The message, or `nil` at the end of the input.
  /// - Throws: `WireError` if the input ends inside a message or has a length above
  ///   the limit, or `POSIXError`.
  func read() async throws -> [UInt8]? {
    try await Thread.run { [self] in
      while true {
        if let message = try stream.next() { return message }
        if try fill() == 0 {
          try stream.finish()
          return nil
        }
      }
    }
  }

  /// Writes a message.
  ///
  /// - Throws: `POSIXError`
  func write(_ message: [UInt8]) async throws {
    try await Thread.run { [self] in
      var rest = MessageStream.framed(message)[...]
      while !rest.isEmpty { rest = rest.dropFirst(try put(rest)) }
    }
  }

  /// Writes a request, and reads the answer.
  ///
  /// The other side must not write before the request is complete: if neither side
  /// read, both would wait forever.
  ///
  /// - Returns: The answer, or `nil` if the output of the other side ended.
  /// - Throws: `WireError` if the other side wrote anything but one answer, or
  ///   `POSIXError`.
  func ask(_ request: [UInt8]) async throws -> [UInt8]? {
    try await Thread.run { [self] in
      _ = fcntl(output, F_SETFL, fcntl(output, F_GETFL) | O_NONBLOCK)
      var rest = MessageStream.framed(request)[...]
      while !rest.isEmpty {
        var files = [
          pollfd(fd: input, events: Int16(POLLIN), revents: 0),
          pollfd(fd: output, events: Int16(POLLOUT), revents: 0),
        ]
        _ = poll(&files, 2, -1)
        if files[0].revents != 0 {
          if try fill() > 0 { try stream.finish() }
          return nil
        }
        if files[1].revents != 0 { rest = rest.dropFirst(try put(rest)) }
      }
      while true {
        if let message = try stream.next() {
          try stream.finish()
          return message
        }
        if try fill() == 0 {
          try stream.finish()
          return nil
        }
      }
    }
  }

  /// Reads a piece, and returns its size.
  private func fill() throws -> Int {
    while true {
      let count = Foundation.read(input, &buffer, buffer.count)
      if count >= 0 {
        stream.append(buffer[..<count])
        return count
      }
      if errno != EINTR { throw POSIXError(errno) }
    }
  }

  /// Writes a piece, and returns its size, which can be 0.
  private func put(_ piece: ArraySlice<UInt8>) throws -> Int {
    let count = piece.withUnsafeBytes {
      Foundation.write(output, $0.baseAddress, $0.count)
    }
    if count >= 0 { return count }
    if errno == EINTR || errno == EAGAIN { return 0 }
    throw POSIXError(errno)
  }
}

extension POSIXError {
  /// Creates the error with a number.
  init(_ number: Int32) {
    self.init(POSIXErrorCode(rawValue: number) ?? .EIO)
  }
}

extension Thread {
  /// Runs a closure that blocks on its own thread.
  static func run<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(with: Result(catching: body))
      }
    }
  }
}
