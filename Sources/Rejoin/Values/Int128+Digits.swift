// SPDX-License-Identifier: Apache-2.0

extension Int128 {
  /// Creates a number from decimal digits, as its description writes them.
  ///
  /// `Int128(_:)` also accepts a plus sign and leading zeros, which would give a
  /// number several encoded forms.
  init?(digits: String) {
    guard let value = Int128(digits), "\(value)" == digits else { return nil }
    self = value
  }
}

extension Sequence<Int128> {
  /// Whether no sum of any of these numbers overflows.
  var isSummable: Bool {
    var total: UInt128 = 0
    for number in self {
      let sum = total.addingReportingOverflow(number.magnitude)
      if sum.overflow || sum.partialValue > Int128.max.magnitude {
        return false
      }
      total = sum.partialValue
    }
    return true
  }
}
