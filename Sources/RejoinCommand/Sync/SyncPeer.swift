// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The peer that an argument of `rejoin sync` names.
enum SyncPeer {
  /// A server that answers requests.
  case url(URL)
  /// A folder in which devices leave objects, and its path without links.
  case folder(String)
  /// A shell command that answers requests.
  case command

  var isFolder: Bool {
    if case .folder = self { true } else { false }
  }

  /// Decides what an argument names.
  ///
  /// A URL starts with its scheme, and an existing folder is a folder. Anything else is
  /// a command, unless it can only be the path of a folder.
  init(_ text: String) throws(CommandError) {
    let start = text.lowercased()
    if ["http://", "https://"].contains(where: start.hasPrefix) {
      guard let url = URL(string: text), !(url.host() ?? "").isEmpty else {
        throw .usage("\"\(text)\" is not a URL; write http://HOST:PORT/")
      }
      self = .url(url)
    } else if let path = SyncPeer.folder(at: text) {
      self = .folder(path)
    } else if SyncPeer.isMissingPath(text) {
      throw .failed(
        "there is no folder and no command at \(text); create the folder, or "
          + "connect its volume")
    } else {
      self = .command
    }
  }

  /// Returns the absolute path of an existing folder, or `nil`.
  private static func folder(at path: String) -> String? {
    var isFolder: ObjCBool = false
    let exists = FileManager.default.fileExists(
      atPath: path, isDirectory: &isFolder)
    guard exists, isFolder.boolValue else { return nil }
    return URL(filePath: path).resolvingSymlinksInPath().path
  }

  /// Returns whether a text is a path at which a shell finds no program.
  private static func isMissingPath(_ text: String) -> Bool {
    let isPath =
      text.hasSuffix("/")
      || ["/", "./", "../"].contains(where: text.hasPrefix)
    let program = String(text.prefix { !$0.isWhitespace })
    // A shell can read another path.
    let isPlain = !text.contains { #"\$"'`*?[~;&|<>(){}#="#.contains($0) }
    return isPath && isPlain
      && !FileManager.default.fileExists(atPath: program)
  }
}
