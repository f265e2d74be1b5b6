// SPDX-License-Identifier: Apache-2.0

/// An error that ends the command.
struct CommandError: Error, Hashable {
  /// The problem and the remedy.
  let message: String
  /// 1 if the work failed, 2 if the arguments or the script are wrong.
  let exitCode: Int32

  /// The work failed.
  static func failed(_ message: String) -> CommandError {
    CommandError(message: message, exitCode: 1)
  }

  /// The arguments or the script are wrong.
  static func usage(_ message: String) -> CommandError {
    CommandError(message: message, exitCode: 2)
  }
}
