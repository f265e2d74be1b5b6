// SPDX-License-Identifier: Apache-2.0

/// An error that describes the first violation that an explorer finds.
public struct ExplorerViolation: Error, CustomStringConvertible {
  /// The difference between the replicas and their expected behavior.
  public let mismatch: ScriptMismatch
  /// The explored program.
  public let program: ExplorerProgram
  /// A shortest script that leads to the violation.
  ///
  /// To run it, use ``World/run(_:universe:)``.
  public let script: Script
  /// The counts of the search until the violation.
  public let counts: ExplorerCounts

  /// Runs the script with ``World/run(_:universe:)``, which doesn't share code
  /// with the search.
  ///
  /// - Returns: The mismatch, or `nil` if the script runs without one.
  public func reproduced<Replica: TestedReplica>(
    with _: Replica.Type
  ) -> ScriptMismatch? {
    do throws(ScriptMismatch) {
      try World<Replica>.run(script, universe: program.universe)
      return nil
    } catch { return error }
  }

  /// The program, the mismatch, and the steps.
  public var description: String {
    "\(program.name): \(mismatch.what)\n"
      + script.steps.map { "  \($0)" }.joined(separator: "\n")
  }
}
