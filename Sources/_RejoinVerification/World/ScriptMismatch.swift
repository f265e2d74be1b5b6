// SPDX-License-Identifier: Apache-2.0
/// The first difference between a replica and the oracle.
public struct ScriptMismatch: Error, Hashable, CustomStringConvertible {
  /// A description of the difference.
  public let what: String
  /// The step that revealed the difference, or `nil` if the final sync did.
  public var step: Int?

  init(_ what: String) { self.what = what }

  func at(step: Int) -> ScriptMismatch {
    var copy = self
    copy.step = step
    return copy
  }

  /// The difference and the step that revealed it.
  public var description: String {
    "\(step.map { "after step \($0)" } ?? "when everybody has synced"): \(what)"
  }
}

/// Throws a mismatch unless two values are equal.
func agree<Thing: Equatable>(
  _ what: @autoclosure () -> String, _ real: Thing, _ expected: Thing
) throws(ScriptMismatch) {
  if real == expected { return }
  throw ScriptMismatch("\(what()): is \(real), must be \(expected)")
}
