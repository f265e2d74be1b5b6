// SPDX-License-Identifier: Apache-2.0
import Rejoin
import Testing

@testable import RejoinCommand
@testable import _RejoinVerification

@Suite struct PrintedScriptTests {
  init() throws { try Premises.check() }

  /// Returns the lines that the command prints for the devices at the end of a
  /// script.
  private func shows(_ script: Script) throws -> [String] {
    var world = World<ReplicaUnderTest>(deviceCount: script.deviceCount)
    for step in script.steps { try world.perform(step) }
    return world.peers.map { peer in
      let replica = peer.replica.replica
      var names = [replica.device: replica.device.description]
      for entry in replica.version.vectorClock.entries {
        names[entry.device] = entry.device.description
      }
      return ReplayOutput.line(
        for: replica, names: names, showsBytes: true)
    }
  }

  /// Returns the steps of a script that a replay script can express exactly.
  ///
  /// The result lacks contexts on a deleted record, because a replayed context
  /// would create the record again. It also lacks discarding a record that did
  /// not exist at the fetch, because a replayed context does not count it as an
  /// edit.
  private func sayable(_ script: Script) throws -> Script {
    var world = World<ReplicaUnderTest>(deviceCount: script.deviceCount)
    var result = Script(deviceCount: script.deviceCount)
    var empty: Set<Int> = []
    var reopened: Set<Int> = []
    var hasWritten = false
    for step in script.steps where isSayable(step) {
      switch step {
      case .fetch(let i, let id, let k):
        let model = world.peers[i].model
        if model.isDead(id) { continue }
        if model.exists(id) { empty.remove(k) } else { empty.insert(k) }
      case .discard(let k, _) where empty.contains(k): continue
      // A replayed device does not store its undo history.
      case .undo(let i, _) where reopened.contains(i): continue
      case .reopen(let i), .restore(let i, _, _): reopened.insert(i)
      // The oracle does not judge what two histories of one device ID deleted.
      case .purge where hasWritten: continue
      case .save, .undo, .purge, .discard, .pull:
        if !world.undecidable.isEmpty, step.mayDelete { continue }
      // A printed device also records the receiver's version. Therefore, it
      // learns of later saves under its own ID, and more saves become stable.
      case .write(_, since: .some, _), .writePart:
        if !world.suspects.isEmpty { continue }
        hasWritten = true
      default: break
      }
      try world.perform(step)
      result.steps.append(step)
    }
    return result
  }

  /// Returns whether a replay script has every verb of a step.
  ///
  /// It lacks `touch` and references, and has only one amount for the increments
  /// and decrements of a counter in a save.
  private func isSayable(_ step: ScriptStep) -> Bool {
    let verbs: [ScriptVerb]
    switch step {
    case .save(_, let all), .bringIn(_, let all), .pull(_, _, _, let all):
      verbs = all
    case .commit(_, let edits, _):
      return !edits.values.contains {
        if case .write(.reference) = $0 { true } else { false }
      }
    default: return true
    }
    var added: Set<[String]> = []
    var taken: Set<[String]> = []
    for verb in verbs {
      switch verb {
      case .edit(let id, let key, .count(let edit)):
        if edit.increments > 0 { added.insert(["\(id)", "\(key)"]) }
        if edit.decrements > 0 { taken.insert(["\(id)", "\(key)"]) }
      case .edit(_, _, .write(.reference)): return false
      case .edit: break
      case .delete, .undelete, .move: if verbs.count > 1 { return false }
      case .touch: return false
      }
    }
    return added.isDisjoint(with: taken)
  }

  /// Returns whether a replayed script ends like the original.
  private func isFaithful(_ script: Script) throws -> Bool {
    var printed: [String] = []
    try Replay.run(script.replayText(), showsBytes: true) { printed.append($0) }
    return try printed.filter { $0.hasPrefix("{\"bytes\"") } == shows(script)
  }

  @Test func printedScriptEndsLikeOriginal() throws {
    for seed in 0..<60 as Range<UInt64> {
      var weights = ScriptWeights()
      (weights.unnoticedRestores, weights.retirements) = (2, 1)
      (weights.company, weights.deceptions) = (0, 0)
      let script = try sayable(
        ScriptGenerator.script(seed: seed, steps: 60, weights: weights))
      if try isFaithful(script) { continue }
      var shrinker = Shrinker { (try? isFaithful($0)) == false }
      let shortest = shrinker.shrink(script)
      Issue.record("seed \(seed): \(shortest.replayText())")
    }
  }
}

extension ScriptStep {
  /// Whether the step is anything but a save of edits.
  fileprivate var mayDelete: Bool {
    guard case .save(_, let verbs) = self else { return true }
    return verbs.contains {
      switch $0 {
      case .delete, .undelete: true
      case .edit, .touch, .move: false
      }
    }
  }
}
