// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinTesting
import Testing
import _RejoinVerification

/// Undo of decoded saves in random histories.
@Suite struct DecodedUndoTests {
  private let laws = UndoLawTests()

  init() throws { try Premises.check() }

  /// The saves of a history.
  ///
  /// The last one is undone.
  private func saves(of past: UndoPast) throws -> [UndoStep] {
    var history = UndoHistory()
    var undos: [UndoStep?] = []
    for verbs in past.saves {
      guard let report = try? laws.save(verbs, on: past.one) else { continue }
      undos.append(report.undo)
      history.append(report)
    }
    if let last = history.undo { history.append(try past.one.undo(last)) }
    return (undos + [history.undo, history.redo]).compactMap(\.self)
  }

  private func json(_ undo: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return try encoder.encode(undo)
  }

  private func decoded(_ json: Data) throws -> UndoStep {
    try JSONDecoder().decode(UndoStep.self, from: json)
  }

  /// Expects that a replica is as sound after an undo as before it.
  ///
  /// - Returns: Whether the undo saved anything.
  private func check(
    _ undo: UndoStep, on replica: Replica, _ comment: Comment
  ) throws -> Bool {
    let replica = laws.copy(replica)
    var report = SaveReport()
    do { report = try replica.undo(undo) } catch { return false }
    if let redo = report.undo {
      #expect(try decoded(json(redo)) == redo, comment)
      _ = try? replica.undo(redo)
    }
    let bytes = replica.state.encoded()
    #expect(try ReplicaState(decoding: bytes).encoded() == bytes, comment)
    let other = Replica(
      device: DeviceID(50), schema: UndoLawTests.universe.schema,
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(51) })
    if let delta = replica.delta(since: other.version) {
      other.apply(try Delta(decoding: delta.encoded()))
    }
    #expect(
      other.encoded(foldingLedgers: true)
        == replica.encoded(foldingLedgers: true), comment)
    return report.dot != nil
  }

  @Test func decodedUndoEqualsEncodedOne() throws {
    var count = 0
    for seed in UndoLawTests.seeds {
      for undo in try saves(of: UndoPast(seed)) {
        let data = try json(undo)
        #expect(try decoded(data) == undo, "seed \(seed)")
        #expect(try json(decoded(data)) == data, "seed \(seed)")
        count += 1
      }
    }
    #expect(count > 500)
  }

  /// Decoding refuses a changed undo, or any replica can undo it.
  @Test func undoOfChangedJSONKeepsReplicasSound() throws {
    var (refused, undone, left) = (0, 0, 0)
    for seed in UndoLawTests.seeds {
      let past = UndoPast(seed)
      let lacking = laws.copy(past.other)
      let undos = try saves(of: past)
      let trees = try undos.map {
        try JSONDecoder().decode(JSONTree.self, from: json($0))
      }
      let mutation = UndoMutation(trees)
      var random = SeededRandom(seed: seed)
      for number in 0..<20 where !trees.isEmpty {
        var tree = random.pick(trees)
        for _ in 0...random.number(below: 2) { mutation.mutate(&tree, &random) }
        let undo: UndoStep
        do { undo = try decoded(json(tree)) } catch is DecodingError {
          refused += 1
          continue
        }
        let comment: Comment = "seed \(seed), change \(number)"
        #expect(try decoded(json(undo)) == undo, comment)
        for replica in [past.one, lacking] {
          let hasSaved = try check(undo, on: replica, comment)
          (undone, left) = hasSaved ? (undone + 1, left) : (undone, left + 1)
        }
      }
    }
    #expect(refused > 1000 && undone > 1000 && left > 1000)
  }
}
