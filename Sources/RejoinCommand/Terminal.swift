// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Where the command writes to.
enum Terminal {
  /// Whether standard output is a terminal that may be coloured.
  static var hasColours: Bool {
    isatty(STDOUT_FILENO) == 1
      && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
  }

  /// Ends the command if standard output is closed, before its number is given to
  /// a file that is opened.
  static func open() {
    // Writing to a pipe that nobody reads is then an error like any other.
    signal(SIGPIPE, SIG_IGN)
    if !isOpen { fail(EBADF) }
  }

  /// Whether standard output is a file, a pipe, a device or a socket; where it was
  /// closed, the runtime may have taken its number for something of its own.
  private static var isOpen: Bool {
    var status = stat()
    return fstat(STDOUT_FILENO, &status) == 0 && status.st_mode & S_IFMT != 0
  }

  /// Writes `text` to standard output, or ends the command.
  static func write(_ text: String) {
    if let error = put(text, to: STDOUT_FILENO) { fail(error) }
  }

  /// Writes `text` to standard error, if that can be written to.
  static func complain(_ text: String) {
    _ = put(text, to: STDERR_FILENO)
  }

  private static func fail(_ error: Int32) -> Never {
    complain(
      "rejoin: cannot write to standard output: "
        + "\(String(cString: strerror(error))); send it to where there is room, "
        + "and read it to its end\n")
    exit(1)
  }

  /// Writes all of `text`.
  ///
  /// - Returns: The number of the error that there was.
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

/// A line on standard error that says how far long work has come.
///
/// It shows only on a terminal and only if the work takes longer than a second.
struct ProgressLine {
  private let label: String
  private let total: Int
  private let start = ContinuousClock.now
  private let isOnTerminal = isatty(STDERR_FILENO) == 1
  private var isShown = false

  init(_ label: String, of total: Int) {
    self.label = label
    self.total = total
  }

  /// Shows that `done` of the total are done.
  mutating func update(_ done: Int) {
    guard isOnTerminal, done.isMultiple(of: 50) else { return }
    guard ContinuousClock.now - start > .seconds(1) else { return }
    isShown = true
    Terminal.complain("\r\(label): \(done) of \(total)\u{1b}[K")
  }

  /// Takes the line away.
  func finish() {
    if isShown { Terminal.complain("\r\u{1b}[K") }
  }
}
