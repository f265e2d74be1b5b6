// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// `rejoin inspect` prints the content of an encoded message.
struct InspectCommand {
  static let command = Command(
    name: "inspect",
    purpose: "print the content of an encoded message",
    usage: "FILE [--format FORMAT]",
    discussion: """
      FILE has the bytes of a delta, a vector clock, a replica's version, a stored
      replica, a restore token, or a message of a sync. The command prints the size
      of each section, the saves of each device, and every field of every record.
      For damaged bytes, it prints the offset and what was expected there, and the
      exit code is 1.
      """,
    sections: [
      .init(
        title: "OPTIONS",
        options: [.init("format", "FORMAT", "table (default) or json")])
    ],
    examples: ["inspect delta.bin", "inspect --format json - < delta.bin"],
    run: { try InspectCommand($0).run() })

  private let file: String
  private let isJSON: Bool

  /// Reads the arguments of `inspect`.
  init(_ arguments: Arguments) throws(CommandError) {
    file = try arguments.file(of: "inspect")
    switch arguments.value("format") {
    case nil, "table": isJSON = false
    case "json": isJSON = true
    case let name?:
      throw .usage("unknown format \"\(name)\"; use table, json")
    }
  }

  /// Prints the content of the file.
  func run() throws(CommandError) {
    let content = try Files.read(file)
    let inspection: Inspection
    do throws(WireError) {
      inspection = try Inspection(content)
    } catch {
      throw .failed("\(file): \(error)")
    }
    Terminal.write(
      isJSON
        ? "\(inspection.json)\n"
        : inspection.table(
          colors: Terminal.hasColors))
  }
}
