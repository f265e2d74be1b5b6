// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Duration {
  var milliseconds: Double {
    let (seconds, fraction) = components
    return Double(seconds) * 1e3 + Double(fraction) / 1e15
  }
}

/// Returns milliseconds with one decimal place.
func milliseconds(_ duration: Duration?) -> String {
  duration.map { String(format: "%.1f", $0.milliseconds) } ?? "-"
}

extension [Duration] {
  /// Returns the duration that a number of percent do not exceed.
  func percentile(_ percent: Int) -> Duration? {
    isEmpty ? nil : sorted()[count * percent / 100]
  }
}

/// Prints a line without waiting for more.
func printLine(_ columns: [String]) {
  let line = columns.joined(separator: "\t") + "\n"
  FileHandle.standardOutput.write(Data(line.utf8))
}
