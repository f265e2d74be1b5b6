// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinTesting

/// The progress of both searches, which run at the same time.
final class SimulateProgress: Sendable {
  private struct State {
    var line: ProgressLine
    var programs = 0
    var seeds = 0
  }

  private let state: Locked<State>

  /// - Parameters:
  ///   - programs: The number of programs to explore.
  ///   - runs: The number of simulations to run.
  init(programs: Int, runs: Int) {
    let line = ProgressLine { done in
      "\(done[0]) of \(programs.counted("program")), "
        + "\(done[1]) of \(runs.counted("simulation"))"
    }
    state = Locked(State(line: line))
  }

  /// Adds a finished program.
  func finishProgram() { update { $0.programs += 1 } }

  /// Adds a finished simulation.
  func finishSeed() { update { $0.seeds += 1 } }

  /// Removes the line.
  func finish() { state.withLock { $0.line.finish() } }

  private func update(_ count: (inout State) -> Void) {
    state.withLock { state in
      count(&state)
      state.line.update([state.programs, state.seeds])
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
