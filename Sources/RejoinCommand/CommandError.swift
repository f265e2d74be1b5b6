// SPDX-License-Identifier: Apache-2.0

/// A reason for the command to stop.
struct CommandError: Error, Hashable {
  /// What is wrong, and how to mend it.
  let message: String
  /// 1 if the work failed, 2 if the command was called wrongly.
  let exitCode: Int32

  /// The work failed.
  static func failed(_ message: String) -> CommandError {
    CommandError(message: message, exitCode: 1)
  }

  /// The command was called wrongly.
  static func usage(_ message: String) -> CommandError {
    CommandError(message: message, exitCode: 2)
  }
}
