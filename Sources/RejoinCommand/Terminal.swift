//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Foundation

/// Where the command writes to.
enum Terminal {
  /// Whether standard output is a terminal that may be coloured.
  static var hasColours: Bool {
    isatty(STDOUT_FILENO) == 1
      && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
  }

  /// Writes `text` to standard output.
  static func write(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }

  /// Writes `text` to standard error.
  static func complain(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
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
