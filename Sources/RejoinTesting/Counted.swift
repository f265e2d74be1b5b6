// SPDX-License-Identifier: Apache-2.0

extension BinaryInteger {
  /// The number with commas between groups of three digits.
  ///
  ///     25000.grouped   // "25,000"
  package var grouped: String {
    let digits = Array(String(magnitude))
    var text = self < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
      text.append(digit)
    }
    return text
  }

  /// Returns the number with a noun in the singular or plural.
  ///
  ///     1.counted("record")             // "1 record"
  ///     2000.counted("record")          // "2,000 records"
  ///     0.counted("patch", "patches")   // "0 patches"
  package func counted(_ noun: String, _ plural: String? = nil) -> String {
    self == 1 ? "1 \(noun)" : "\(grouped) \(plural ?? noun + "s")"
  }
}
