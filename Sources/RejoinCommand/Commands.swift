// SPDX-License-Identifier: Apache-2.0

/// The subcommands of `rejoin`.
enum Commands {
  /// The version of the package.
  static let version = "0.1.0"

  static let all = [
    DemoCommand.command,
    CompareCommand.command, ReplayCommand.command, InspectCommand.command,
    StoreCommand.command, SyncCommand.command, ServeCommand.command,
  ]

  /// The text that `rejoin --help` prints.
  static var help: String {
    let width = (all.map(\.name.count).max() ?? 0) + 2
    let list = all.map { command in
      let gap = String(
        repeating: " ", count: width - command.name.count)
      return "  \(command.name)\(gap)\(command.purpose)\n"
    }.joined()
    return """
      rejoin: see what happens to edits that devices make offline

      USAGE: rejoin COMMAND [ARGUMENT…]
             rejoin COMMAND --help
             rejoin --version

      COMMANDS:
      \(list)
      A FILE can be a pipe, and - stands for standard input.

      EXIT CODES:
        0  success
        1  a file cannot be read or written, or a check found a fault
        2  the arguments, a script or episodes are wrong

      """
  }

  /// Runs the subcommand that the first word names.
  static func run(_ words: [String]) async throws {
    switch words.first {
    case "--help", "-h", "help":
      return Terminal.write(help)
    case "--version":
      return Terminal.write("rejoin \(version)\n")
    case nil:
      throw CommandError.usage("a command is missing\n\n\(help)")
    case let word?:
      guard let command = all.first(where: { $0.name == word }) else {
        throw CommandError.usage(
          "unknown command \"\(word)\"; `rejoin --help` lists the commands")
      }
      let arguments = try Arguments(words.dropFirst(), of: command)
      if arguments.isHelp { return Terminal.write(command.help) }
      try await command.run(arguments)
    }
  }
}
