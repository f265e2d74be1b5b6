// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin

/// `rejoin inspect` prints the content of an encoded message.
struct InspectCommand {
  private let file: String
  private let isJSON: Bool

  /// The options that take a value.
  static let options = ["format"]

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
    guard let content = FileManager.default.contents(atPath: file) else {
      throw .failed(
        "\(file): the file cannot be read; check the path and its permissions")
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
          colors: Terminal.hasColors))
  }
}
