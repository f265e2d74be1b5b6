// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import _RejoinVerification

/// The counts of faults in some simulations.
private struct FaultCounts {
  var counts: [String: Int] = [:]

  mutating func add(_ planner: SimulationPlanner) {
    for case let fault? in planner.clocks.map(\.fault) {
      counts["a clock that is \(fault)", default: 0] += 1
    }
    counts["absences of months", default: 0] += planner.absences.values.count {
      $0 > planner.now + 30 * SimulationPlanner.day
    }
    for step in planner.script.steps { add(step) }
    addDeliveries(planner.script)
  }

  private mutating func add(_ step: ScriptStep) {
    let name: String? =
      switch step {
      case .split: "splits"
      case .writePart: "parts of transfers"
      case .call(_, _, _, nil): "calls"
      case .call: "calls whose line breaks"
      case .merge: "merges"
      case .fork: "clones"
      case .restore(_, _, .lost): "restores"
      case .restore(_, _, .fitting): "unnoticed restores"
      case .restore(_, _, .last): "states opened with a token"
      case .storeToken: "tokens"
      case .bringIn: "imports"
      case .pull: "pulls"
      case .discard: "deletions in contexts"
      case .save(_, let verbs) where verbs.contains { $0.isUndeletion }:
        "undeletions"
      case .reopen: "crashes"
      case .undo(_, false): "undoings"
      case .undo(_, true): "redoings"
      case .retire: "retirements"
      case .purge: "purges"
      case .fold: "folds"
      default: nil
      }
    if let name { counts[name, default: 0] += 1 }
  }

  /// Counts messages that never arrive, arrive twice, or arrive after later
  /// ones.
  private mutating func addDeliveries(_ script: Script) {
    var lost: Set<Int> = []
    var arrived: Set<[Int]> = []
    var latest: [Int: Int] = [:]
    for step in script.steps {
      switch step {
      case .write(_, _, let k): lost.insert(k)
      case .deliver(let k, let i):
        lost.remove(k)
        if !arrived.insert([k, i]).inserted {
          counts["duplicates", default: 0] += 1
        } else if k < latest[i, default: 0] {
          counts["late messages", default: 0] += 1
        }
        latest[i] = max(k, latest[i, default: 0])
      default: break
      }
    }
    counts["lost messages", default: 0] += lost.count
  }
}

extension ScriptVerb {
  fileprivate var isUndeletion: Bool {
    if case .undelete = self { true } else { false }
  }
}

@Suite struct SimulatedFaultTests {
  @Test func everyFaultHappens() {
    var faults = FaultCounts()
    for seed in 0..<1200 as Range<UInt64> {
      var planner = SimulationPlanner(
        seed: seed, scale: .quick, universe: .standard)
      _ = planner.plan()
      faults.add(planner)
    }
    let kinds =
      [
        "splits", "parts of transfers", "calls", "calls whose line breaks",
        "merges", "clones", "restores",
        "unnoticed restores",
        "crashes", "retirements", "purges", "folds", "absences of months",
        "duplicates", "late messages", "lost messages", "tokens",
        "states opened with a token", "imports", "pulls",
        "deletions in contexts", "undeletions", "undoings", "redoings",
      ] + SimulatedClock.Fault.allCases.map { "a clock that is \($0)" }
    for kind in kinds {
      #expect(faults.counts[kind, default: 0] >= 100, "\(kind)")
    }
  }

  /// A divided network delivers no messages between its halves.
  @Test func partitionSeparatesHalves() {
    var planner = SimulationPlanner(
      seed: 0, scale: .quick, universe: .standard)
    planner.side = [0]
    planner.absences = [:]
    #expect(!planner.isConnected(0, 1) && !planner.isConnected(1, 0))
    #expect(planner.isConnected(1, 2))
    planner.absences = [2: planner.now + 1]
    #expect(!planner.isConnected(1, 2))
  }
}
