// SPDX-License-Identifier: Apache-2.0

extension String {
  /// Returns the text in lines of at most 80 characters, if it has spaces at
  /// which to break.
  ///
  /// - Parameters:
  ///   - indent: The prefix of the first line.
  ///   - hanging: The prefix of the other lines.
  package func wrapped(_ indent: String = "", hanging: String = "") -> String {
    var lines: [String] = []
    var line = indent
    var isEmpty = true
    for word in split(separator: " ") {
      if !isEmpty, line.count + 1 + word.count > 80 {
        lines.append(line)
        (line, isEmpty) = (hanging, true)
      }
      line += (isEmpty ? "" : " ") + word
      isEmpty = false
    }
    return (lines + [line]).joined(separator: "\n")
  }
}
