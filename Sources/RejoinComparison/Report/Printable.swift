// SPDX-License-Identifier: Apache-2.0

extension String {
  /// The text with control characters escaped, except line feeds.
  ///
  /// Names and values come from untrusted files, so they must not control the
  /// terminal that prints them.
  package var printable: String { escaping(\.isSteering) }

  /// The text on one line, with all control characters escaped.
  var printableOnOneLine: String { escaping { $0 == "\n" || $0.isSteering } }

  private func escaping(_ isEscaped: (Unicode.Scalar) -> Bool) -> String {
    if !unicodeScalars.contains(where: isEscaped) { return self }
    return unicodeScalars.map {
      isEscaped($0) ? $0.escaped(asASCII: true) : String($0)
    }.joined()
  }
}

extension Unicode.Scalar {
  /// Whether a terminal interprets the character instead of printing it.
  fileprivate var isSteering: Bool {
    switch properties.generalCategory {
    case .control: self != "\n"
    case .lineSeparator, .paragraphSeparator: true
    default: properties.isBidiControl
    }
  }
}
