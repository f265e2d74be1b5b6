// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The programs that tests start.
package enum TestProgram {
  /// The tests are linked with this class, so its bundle is theirs.
  private final class Marker {}

  /// Returns the path of a program in the folder of the tests, or `nil` if it
  /// was not built.
  package static func named(_ name: String) -> URL? {
    let tests = Bundle(for: Marker.self).bundleURL
    return [Bundle.main.bundleURL, tests.deletingLastPathComponent()]
      .map { $0.appending(path: name) }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }
}
