// SPDX-License-Identifier: Apache-2.0
/// The first thing in which a replica is not as the oracle says.
public struct ScriptMismatch: Error, Hashable, CustomStringConvertible {
  /// What is wrong.
  public let what: String
  /// The step after which it showed; `nil` if everybody has synced since.
  public var step: Int?

  init(_ what: String) { self.what = what }

  func at(step: Int) -> ScriptMismatch {
    var copy = self
    copy.step = step
    return copy
  }

  /// What is wrong, and where it showed.
  public var description: String {
    "\(step.map { "after step \($0)" } ?? "when everybody has synced"): \(what)"
  }
}

/// Throws unless two things are equal.
func agree<Thing: Equatable>(
  _ what: @autoclosure () -> String, _ real: Thing, _ expected: Thing
) throws(ScriptMismatch) {
  if real == expected { return }
  throw ScriptMismatch("\(what()): is \(real), must be \(expected)")
}
