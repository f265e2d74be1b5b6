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

  /// Reads what a program writes, through a byte or until the program ends.
  ///
  /// `FileHandle` fails on Linux if a signal interrupts it.
  package static func output(
    of pipe: Pipe, through last: UInt8? = nil
  ) throws -> Data {
    let file = pipe.fileHandleForReading.fileDescriptor
    var output = Data()
    var piece = [UInt8](repeating: 0, count: last == nil ? 1 << 16 : 1)
    while last == nil || output.last != last {
      let count = read(file, &piece, piece.count)
      if count == 0 { break }
      if count > 0 {
        output += piece.prefix(count)
      } else if errno != EINTR {
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
      }
    }
    return output
  }
}
