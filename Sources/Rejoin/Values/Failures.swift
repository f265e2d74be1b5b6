// SPDX-License-Identifier: Apache-2.0

/// Stops the program unless a caller kept a rule of the documentation.
///
/// Unlike `precondition`, the function shows the message even in optimized
/// builds.
/// Conditions that only the library can break remain preconditions.
@inline(__always)
package func demand(
  _ condition: Bool, _ message: @autoclosure () -> String,
  file: StaticString = #fileID, line: UInt = #line
) {
  if !condition { stop(message(), file: file, line: line) }
}

/// Stops the program with the cause of a mistake and its remedy.
@inline(never)
package func stop(
  _ message: String, file: StaticString = #fileID, line: UInt = #line
) -> Never {
  fatalError(message, file: file, line: line)
}

extension Decoder {
  /// Returns an error for invalid content.
  func corrupted(_ description: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: codingPath, debugDescription: description))
  }
}
