// SPDX-License-Identifier: Apache-2.0

extension String {
  /// The text in lines of at most 80 characters, as far as it has spaces to break
  /// at.
  ///
  /// - Parameters:
  ///   - indent: What the first line begins with.
  ///   - hanging: What the other lines begin with.
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
