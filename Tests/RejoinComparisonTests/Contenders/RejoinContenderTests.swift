// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Rejoin
@testable import RejoinComparison

@Suite struct RejoinContenderTests {
  private func losses(
    of contender: some Contender, _ episodes: [Episode]
  ) throws -> Losses {
    let result = try Comparison([contender]).run(episodes)
    return try #require(result.strategies.first).losses
  }

  @Test(arguments: [(2, 0), (3, 60_000), (5, 36_000_000)] as [(Int, Int64)])
  func rejoinLosesNothing(devices: Int, skew: Int64) throws {
    var workload = Workload()
    workload.episodes = 200
    (workload.devices, workload.skew) = (devices, skew)
    for seed in 1...3 as ClosedRange<UInt64> {
      workload.seed = seed
      workload.deletions = seed == 3 ? 0.2 : 0.02
      let losses = try losses(of: RejoinContender(), workload.generate())
      #expect(losses.isLossless && losses.disagreements == 0, "seed \(seed)")
    }
  }

  @Test func fieldNameMayBeEmpty() throws {
    let episode = Episode(
      ["": .text("old")], ("a", { $0.set[""] = "A" }),
      ("b", { $0.set[""] = "B" }))
    #expect(try losses(of: RejoinContender(), [episode]).isLossless)
  }

  private var episodes: [Episode] {
    var workload = Workload()
    workload.episodes = 100
    workload.deletions = 0.1
    return workload.generate()
  }

  /// A faulty join that ignores the saves that the other side superseded.
  @Test func oracleDetectsForgottenRemovals() throws {
    let sabotaged = RejoinContender { delta in
      delta.damaged { field in
        guard case .set(let set) = field.box else { return field }
        return FieldState(
          Causal(store: set.store, context: CausalContext(set.store.dots)))
      }
    }
    let losses = try losses(of: sabotaged, episodes)
    #expect(losses.removesUndone > 0)
    #expect(losses.counterUnits == 0 && losses.lost > 0)
  }

  /// A faulty join that treats all local values as superseded by the other
  /// side.
  @Test func oracleDetectsDroppedConcurrentWrites() throws {
    let all = VectorClock.claimingEverything
    let sabotaged = RejoinContender { delta in
      delta.damaged { field in
        switch field.box {
        case .register(let field):
          FieldState(Causal(store: field.store, context: CausalContext(all)))
        case .set(let field):
          FieldState(Causal(store: field.store, context: CausalContext(all)))
        default: field
        }
      }
    }
    let losses = try losses(of: sabotaged, episodes)
    #expect(losses.excess > 0)
    #expect(losses.silent > 0)
    #expect(losses.addsLost > 0)
  }

  /// A faulty join whose deletions cover every edit.
  @Test func oracleDetectsDeletionsThatCoverUnseenEdits() throws {
    let all = VectorClock.claimingEverything
    let sabotaged = RejoinContender { delta in
      delta.damaged { field in
        guard case .existence(let field) = field.box else { return field }
        let marks = field.store.siblings.map { mark in
          let isDeletion = mark.payload.kind == .deletion
          return Siblings<ExistenceMark>.Element(
            dot: mark.dot,
            payload: isDeletion
              ? .deletion(covering: all, at: mark.payload.time) : mark.payload)
        }
        return FieldState(
          Causal(
            store: ExistenceMarks(Siblings(sorted: marks)),
            context: field.context))
      }
    }
    let losses = try losses(of: sabotaged, episodes)
    #expect(losses.recordsWrong + losses.disagreements > 0)
  }

  /// A faulty join that loses increments.
  @Test func oracleDetectsLostIncrements() throws {
    let sabotaged = RejoinContender { delta in
      delta.damaged { field in
        if field.kind == .counter { FieldState(.counter) } else { field }
      }
    }
    let losses = try losses(of: sabotaged, episodes)
    #expect(losses.counterUnits > 0)
    #expect(losses.disagreements > 0)
  }
}

extension Delta {
  fileprivate func damaged(_ damage: (FieldState) -> FieldState) -> Delta {
    let changes = changes.map { change in
      var change = change
      // A field without a save cannot be sent.
      change.fields = change.fields.mapValues(damage)
        .filter { !$0.value.clock.isEmpty }
      return change
    }
    return Delta(
      changes: changes.filter { !$0.fields.isEmpty }, intervals: intervals)
  }
}

extension VectorClock {
  fileprivate static var claimingEverything: VectorClock {
    var clock = VectorClock()
    for device in 1...3 as ClosedRange<UInt64> { clock[DeviceID(device)] = 99 }
    return clock
  }
}
