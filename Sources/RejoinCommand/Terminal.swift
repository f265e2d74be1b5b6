// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Standard output and standard error.
enum Terminal {
  /// Whether standard output is a terminal and colors are not turned off.
  static var hasColors: Bool {
    isatty(STDOUT_FILENO) == 1
      && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
  }

  /// Ends the command if standard output is closed.
  ///
  /// To be called first: a file that the command opens would otherwise take
  /// standard output's file descriptor, and the output would go there.
  static func open() {
    // Writing to a pipe without a reader then fails with an error instead of
    // ending the process by a signal.
    signal(SIGPIPE, SIG_IGN)
    if !isOpen { fail(EBADF) }
  }

  /// Whether standard output is a file, a pipe, a device or a socket.
  ///
  /// If it was closed, the runtime may have opened something of its own under
  /// its file descriptor, which has no file type.
  private static var isOpen: Bool {
    var status = stat()
    return fstat(STDOUT_FILENO, &status) == 0 && status.st_mode & S_IFMT != 0
  }

  /// Writes `text` to standard output.
  ///
  /// If that fails, the command ends.
  static func write(_ text: String) {
    if let error = put(text, to: STDOUT_FILENO) { fail(error) }
  }

  /// Writes `text` to standard error.
  ///
  /// Errors are ignored, as there is nowhere left to report them.
  static func complain(_ text: String) {
    _ = put(text, to: STDERR_FILENO)
  }

  /// Tells what of somebody's data is not compared.
  static func tellLeftOut(_ text: String) {
    complain("left out: \(text.printable)\n")
  }

  private static func fail(_ error: Int32) -> Never {
    if error == EPIPE {
      // The reader wants no more, as `head` does: end as other programs do.
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
  /// - Returns: The error's `errno`; `nil` on success.
  private static func put(_ text: String, to file: Int32) -> Int32? {
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
/// It appears only on a terminal, and only if the work takes more than a
/// second.
struct ProgressLine {
  private let label: String
  private let total: Int
  private let start = ContinuousClock.now
  private let isOnTerminal = isatty(STDERR_FILENO) == 1
  private var isShown = false
  /// The number of finished steps at which to write the line again.
  private var next = 50

  init(_ label: String, of total: Int) {
    self.label = label
    self.total = total
  }

  /// Shows that `done` of the total are done.
  mutating func update(_ done: Int) {
    guard isOnTerminal, done >= next else { return }
    next = done + 50
    guard ContinuousClock.now - start > .seconds(1) else { return }
    isShown = true
    Terminal.complain("\r\(label): \(done) of \(total)\u{1b}[K")
  }

  /// Removes the line.
  func finish() {
    if isShown { Terminal.complain("\r\u{1b}[K") }
  }
}
