// SPDX-License-Identifier: Apache-2.0

/// The first thing that an explorer found wrong, and a shortest way there.
public struct ExplorerViolation: Error, CustomStringConvertible {
  /// What is wrong.
  public let mismatch: ScriptMismatch
  /// The program that was explored.
  public let program: ExplorerProgram
  /// What happened; ``World/run(_:universe:)`` carries it out.
  public let script: Script
  /// What had been done.
  public let counts: ExplorerCounts

  /// What ``World/run(_:universe:)`` finds wrong in the script, without sharing any
  /// code of the search; `nil` if nothing.
  public func reproduced<Replica: TestedReplica>(
    with _: Replica.Type
  ) -> ScriptMismatch? {
    do throws(ScriptMismatch) {
      try World<Replica>.run(script, universe: program.universe)
      return nil
    } catch { return error }
  }

  /// What is wrong in which program, and the steps.
  public var description: String {
    "\(program.name): \(mismatch.what)\n"
      + script.steps.map { "  \($0)" }.joined(separator: "\n")
  }
}
