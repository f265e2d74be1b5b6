// SPDX-License-Identifier: Apache-2.0

/// An error that describes content that no undo step can have.
///
/// Each form of a step throws its own error instead: `DecodingError` for JSON,
/// and ``WireError`` for bytes.
struct UndoFault: Error {
  let message: String

  init(_ message: String) { self.message = message }
}

/// Throws a fault unless a condition is met.
func require(
  _ isMet: Bool, _ message: @autoclosure () -> String
) throws(UndoFault) {
  if !isMet { throw UndoFault(message()) }
}
