// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin

/// `rejoin inspect`: what a message holds.
struct InspectCommand {
  private let file: String
  private let isJSON: Bool

  /// The options that take a value.
  static let options = ["format"]

  /// Reads the words after `inspect`.
  init(_ arguments: Arguments) throws(CommandError) {
    guard let file = arguments.operands.first, arguments.operands.count == 1
    else { throw .usage("inspect needs one FILE; see `rejoin inspect --help`") }
    switch arguments.value("format") {
    case nil, "table": isJSON = false
    case "json": isJSON = true
    case let name?:
      throw .usage("unknown format \"\(name)\"; use table, json")
    }
    self.file = file
  }

  /// Prints what is in the file.
  func run() throws(CommandError) {
    guard let content = FileManager.default.contents(atPath: file) else {
      throw .failed("\(file): cannot be read; check that it is there")
    }
    let inspection: Inspection
    do throws(WireError) {
      inspection = try Inspection(Array(content))
    } catch {
      throw .failed("\(file): \(error)")
    }
    Terminal.write(
      isJSON
        ? "\(inspection.json)\n"
        : inspection.table(
          colours: Terminal.hasColours))
  }
}
