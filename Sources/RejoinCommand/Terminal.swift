// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinTesting

/// Standard output and standard error.
enum Terminal {
  /// Whether standard output is a terminal and colors are not turned off.
  static var hasColors: Bool {
    isatty(STDOUT_FILENO) == 1
      && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
  }

  /// Ends the command if standard output is closed.
  ///
  /// Call this first. Otherwise a file that the command opens takes the file
  /// descriptor of standard output and receives the output.
  static func open() {
    // Writing to a pipe without a reader then fails with an error instead of
    // ending the process by a signal.
    signal(SIGPIPE, SIG_IGN)
    if !isOpen { fail(EBADF) }
  }

  /// Whether standard output is a file, a pipe, a device or a socket.
  ///
  /// If it was closed, the runtime can use its file descriptor for an object
  /// without a file
  /// type under its file descriptor.
  private static var isOpen: Bool {
    var status = stat()
    return fstat(STDOUT_FILENO, &status) == 0 && status.st_mode & S_IFMT != 0
  }

  /// Writes `text` to standard output.
  ///
  /// If writing fails, the command ends.
  static func write(_ text: String) {
    if let error = put(text, to: STDOUT_FILENO) { fail(error) }
  }

  /// Writes `text` to standard error.
  ///
  /// Errors are ignored, because no place to report them is left.
  static func complain(_ text: String) {
    _ = put(text, to: STDERR_FILENO)
  }

  /// Reports data that is not compared.
  static func reportLeftOut(_ text: String) {
    complain("left out: \(text.printable)\n")
  }

  private static func fail(_ error: Int32) -> Never {
    if error == EPIPE {
      // The reader has enough, as with `head`. End as other programs do.
      signal(SIGPIPE, SIG_DFL)
      raise(SIGPIPE)
    }
    complain(
      "rejoin: cannot write to standard output: "
        + "\(String(cString: strerror(error))); redirect it to a place with "
        + "free space, and read it to its end\n")
    exit(1)
  }

  /// Writes all of `text`.
  ///
  /// - Returns: The error's `errno`, or `nil` on success.
  static func put(_ text: String, to file: Int32) -> Int32? {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Foundation.write(file, $0.baseAddress, $0.count)
      }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        return errno
      }
    }
    return nil
  }
}

/// A line on standard error with the progress of long work.
///
/// The line appears only on a terminal, and only if the work takes more than a
/// second.
struct ProgressLine {
  private let label: String
  private let total: Int
  private let isOnTerminal = isatty(STDERR_FILENO) == 1
  private var isShown = false
  private var next = ContinuousClock.now + .seconds(1)

  /// Creates the line of work with a number of steps.
  init(_ label: String, of total: Int) {
    (self.label, self.total) = (label, total)
  }

  /// Shows the number of finished steps, at most ten times a second.
  mutating func update(_ done: Int) {
    let now = ContinuousClock.now
    guard isOnTerminal, now >= next else { return }
    next = now + .milliseconds(100)
    isShown = true
    Terminal.complain(
      "\r\(label): \(done.grouped) of \(total.grouped)\u{1b}[K")
  }

  /// Removes the line.
  func finish() {
    if isShown { Terminal.complain("\r\u{1b}[K") }
  }
}
