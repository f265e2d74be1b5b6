// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinComparison

/// Runs the subcommand that the arguments name.
func run(_ words: [String]) async throws {
  let rest = words.dropFirst()
  switch words.first {
  case "compare":
    let arguments = try Arguments(
      rest, options: CompareCommand.options, flags: CompareCommand.flags,
      repeatable: CompareCommand.repeatable)
    if arguments.has("help") { return Terminal.write(Help.compare) }
    try CompareCommand(arguments).run()
  case "replay":
    let arguments = try Arguments(
      rest, options: ReplayCommand.options, flags: ReplayCommand.flags)
    if arguments.has("help") { return Terminal.write(Help.replay) }
    try ReplayCommand(arguments).run()
  case "simulate":
    let arguments = try Arguments(
      rest, options: SimulateCommand.options, flags: SimulateCommand.flags)
    if arguments.has("help") { return Terminal.write(Help.simulate) }
    try await SimulateCommand(arguments).run()
  case "inspect":
    let arguments = try Arguments(
      rest, options: InspectCommand.options, flags: ["help"])
    if arguments.has("help") { return Terminal.write(Help.inspect) }
    try InspectCommand(arguments).run()
  case "store":
    let arguments = try Arguments(
      rest, options: [], flags: StoreCommand.flags)
    if arguments.has("help") { return Terminal.write(Help.store) }
    try StoreCommand(arguments).run()
  case "--help", "-h", "help":
    Terminal.write(Help.overview)
  case nil:
    throw CommandError.usage("a command is missing\n\n\(Help.overview)")
  case let word?:
    throw CommandError.usage(
      "unknown command \"\(word)\"; `rejoin --help` lists the commands")
  }
}

Terminal.open()
do {
  try await run(Array(CommandLine.arguments.dropFirst()))
} catch let error as CommandError {
  Terminal.complain("rejoin: \(error.message.printable)\n")
  exit(error.exitCode)
} catch {
  Terminal.complain("rejoin: \("\(error)".printable)\n")
  exit(1)
}
