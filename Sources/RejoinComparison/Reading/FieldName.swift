// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A problem with the name of a field, and its remedy.
struct NameFault {
  let problem: String
  let remedy: String

  /// Creates the fault of a name, or returns `nil` if the name is valid.
  init?(_ name: String) {
    let bytes = name.utf8.count
    if bytes > Limits.nameBytes {
      problem =
        "the name of the field \"\(name.prefix(20))…\" has \(bytes) bytes"
      remedy = "shorten it to \(Limits.nameBytes) bytes"
    } else if name.unicodeScalars.first == "\0" {
      // Some strategies add fields whose names start with U+0000.
      problem = "the name of a field begins with U+0000"
      remedy = "rename it"
    } else {
      return nil
    }
  }
}
