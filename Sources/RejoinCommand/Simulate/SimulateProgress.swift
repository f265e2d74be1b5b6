// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinTesting

/// The progress of both searches, and whether the user interrupted them.
///
/// Both searches run at the same time, so the object is locked.
final class SimulateProgress: @unchecked Sendable {
  private let lock = NSLock()
  private var line: ProgressLine
  private var programs = 0
  private var seeds = 0

  /// - Parameters:
  ///   - programs: The number of programs to explore.
  ///   - runs: The number of simulations to run.
  init(programs: Int, runs: Int) {
    line = ProgressLine { done in
      "\(done[0]) of \(programs.counted("program")), "
        + "\(done[1]) of \(runs.counted("simulation"))"
    }
  }

  /// Adds a finished program.
  func finishProgram() { update { programs += 1 } }

  /// Adds a finished simulation.
  func finishSeed() { update { seeds += 1 } }

  /// Removes the line.
  func finish() { lock.withLock { line.finish() } }

  private func update(_ count: () -> Void) {
    lock.withLock {
      count()
      line.update([programs, seeds])
    }
  }
}

/// The number of interrupts by the user.
nonisolated(unsafe) private var interrupts: sig_atomic_t = 0

/// Interrupts by the user (Ctrl-C).
enum Interruption {
  /// Whether the user interrupted the command.
  static var isRequested: Bool { interrupts > 0 }

  /// Lets the command finish after the first interrupt.
  ///
  /// The second one ends it.
  static func catchFirst() {
    signal(SIGINT) { _ in
      interrupts = 1
      signal(SIGINT, SIG_DFL)
    }
  }
}
