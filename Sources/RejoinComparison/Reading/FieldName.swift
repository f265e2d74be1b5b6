// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What is wrong with the name of a field, and how to mend it.
struct NameFault {
  let problem: String
  let remedy: String

  /// - Returns: `nil` if the name can be used.
  init?(_ name: String) {
    let bytes = name.utf8.count
    if bytes > Limits.nameBytes {
      problem =
        "the name of the field \"\(name.prefix(20))…\" has \(bytes) bytes"
      remedy = "shorten it to \(Limits.nameBytes) bytes"
    } else if name.unicodeScalars.first == "\0" {
      // Some strategies have fields of their own, whose names begin so.
      problem = "the name of a field begins with U+0000"
      remedy = "rename it"
    } else {
      return nil
    }
  }
}
