// SPDX-License-Identifier: Apache-2.0

import Foundation

/// `rejoin replay` runs a script of what devices did.
struct ReplayCommand {
  private let file: String
  private let showsBytes: Bool
  private let folder: String?

  /// The options that take a value.
  static let options = ["store"]
  /// The options that take no value.
  static let flags = ["bytes", "help"]

  /// Reads the arguments of `replay`.
  init(_ arguments: Arguments) throws(CommandError) {
    file = try arguments.file(of: "replay")
    showsBytes = arguments.has("bytes")
    folder = arguments.value("store")
  }

  /// Runs the script and prints its output.
  func run() throws(CommandError) {
    let text: String
    do {
      text = try String(contentsOfFile: file, encoding: .utf8)
    } catch {
      throw .failed(
        "\(file): the file cannot be read; check the path, its permissions, "
          + "and that the text is UTF-8")
    }
    let stores: ScriptStores?
    do { stores = try folder.map(ScriptStores.init) } catch {
      throw .failed(error.description)
    }
    do {
      try Replay.run(text, showsBytes: showsBytes, in: stores) {
        Terminal.write($0 + "\n")
      }
    } catch {
      throw .usage("\(file): \(error)")
    }
  }
}
