// SPDX-License-Identifier: Apache-2.0

extension String {
  /// The text with everything that steers a terminal spelled out, but for ends of
  /// lines: names and values come from files that anyone may have written.
  package var printable: String {
    if !unicodeScalars.contains(where: \.isSteering) { return self }
    return unicodeScalars.map {
      $0.isSteering ? $0.escaped(asASCII: true) : String($0)
    }.joined()
  }
}

extension Unicode.Scalar {
  fileprivate var isSteering: Bool {
    switch properties.generalCategory {
    case .control: self != "\n"
    case .lineSeparator, .paragraphSeparator: true
    default: properties.isBidiControl
    }
  }
}
