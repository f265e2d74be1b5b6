// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification
import Testing

/// Histories of devices that know each other show equal records with and
/// without purges.
@Suite struct PurgeLawTests {
  @Test(arguments: 0..<8)
  func purgesDoNotChangeShownRecords(block: UInt64) throws {
    let count: UInt64 = Tier.isNightly ? 1000 : 12
    var counts = WorldCounts()
    for seed in (block * count)..<(block * count + count) {
      let script = ScriptGenerator.purgingScript(seed: seed, steps: 80)
      do { counts += try World<ReplicaUnderTest>.run(script) } catch {
        Issue.record("seed \(seed): \(error)")
      }
    }
    // The histories must cover each part of the law.
    #expect(counts.purges > 12 && counts.purgeLaws > 100, "\(counts)")
    #expect(counts.refusals > 0 && counts.cuts > 100, "\(counts)")
    #expect(counts.undoings.metPurges > 0, "\(counts)")
  }

  private let id = RecordID("Note", "a")
  private let register = FieldKey("register", .register)
  private let counter = FieldKey("counter", .counter)

  private func round(_ devices: Int...) -> [ScriptStep] {
    devices.flatMap { i in
      devices.filter { $0 != i }.map { ScriptStep.sync(from: i, to: $0) }
    }
  }

  /// Returns a script of three devices that each made a save and received those
  /// of the others.
  private func introduced(_ steps: [ScriptStep]) -> Script {
    let fill = ScriptStep.save(
      on: 0,
      [
        .edit(id, register, .write("n")),
        .edit(id, counter, .count(.init(by: 3))),
      ])
    let others = [1, 2].map {
      ScriptStep.save(on: $0, [.touch(RecordID("Note", "b"))])
    }
    let all = round(0, 1, 2)
    return Script(
      deviceCount: 3, steps: [fill] + others + all + all + steps)
  }

  /// The first device lacks the third device's edit, which the cut contains.
  @Test func cutWithMissingEditDoesNotPurge() throws {
    let edit = ScriptStep.save(
      on: 2, [.edit(id, counter, .count(.init(by: 1)))])
    let steps: [ScriptStep] = [
      .save(on: 0, [.delete(id)]), edit, .sync(from: 0, to: 1),
      .sync(from: 0, to: 2), .sync(from: 2, to: 1), .sync(from: 0, to: 1),
      .sync(from: 2, to: 1), .sync(from: 0, to: 1), .sync(from: 2, to: 1),
      .sync(from: 0, to: 1), .purge(0), .purge(0), .sync(from: 0, to: 2),
      .purge(0), .sync(from: 2, to: 0),
    ]
    let world = try World<ReplicaUnderTest>.ran(introduced(steps))
    #expect(world.counts.purges == 0 && world.counts.purgeLaws == 0)
  }

  @Test func restorationAndRecreationSurviveTwoPurges() throws {
    let all = round(0, 1, 2)
    let write = ScriptStep.save(on: 2, [.edit(id, register, .write("again"))])
    for event in [
      ScriptStep.save(on: 1, [.undelete(id)]), .undo(on: 0, again: false),
      write,
      .save(on: 1, [.touch(id), .delete(id)]),
    ] {
      for place in 0..<2 {
        let first = [ScriptStep.save(on: 0, [.delete(id)])] + all + all
        let second = [ScriptStep.purge(2)] + (place == 0 ? [event] : []) + all
        let third = all + [.purge(2)] + (place == 1 ? [event] : []) + all + all
        let world = try World<ReplicaUnderTest>.ran(
          introduced(first + second + third + [.purge(2)] + all))
        #expect(world.counts.purges > 0 && world.counts.purgeLaws > 0)
      }
    }
  }
}
