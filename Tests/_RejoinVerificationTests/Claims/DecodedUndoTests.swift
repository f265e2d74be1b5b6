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

  /// Returns the saves of a history.
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

  private func decoded(
    _ bytes: [UInt8], as undo: UndoStep
  ) throws(WireError) -> UndoStep {
    try UndoStep(decoding: bytes, dot: undo.dot, name: undo.name)
  }

  /// Returns the bytes with their correct checksum.
  private func resealed(_ bytes: [UInt8]) -> [UInt8] {
    let content = bytes.dropLast(WireChecksum.size)
    let sum = Array(content).withUnsafeBytes(WireChecksum.of)
    return content
      + (0..<4).map { UInt8(truncatingIfNeeded: sum >> UInt32(8 * $0)) }
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
      other.foldedBytes == replica.foldedBytes, comment)
    return report.dot != nil
  }

  @Test func decodedUndoEqualsEncodedOne() throws {
    var count = 0
    for seed in UndoLawTests.seeds {
      for undo in try saves(of: UndoPast(seed)) {
        let data = try json(undo)
        #expect(try decoded(data) == undo, "seed \(seed)")
        #expect(try json(decoded(data)) == data, "seed \(seed)")
        let bytes = undo.encoded()
        #expect(try decoded(bytes, as: undo) == undo, "seed \(seed)")
        #expect(try decoded(data).encoded() == bytes, "seed \(seed)")
        count += 1
      }
    }
    #expect(count > 500)
  }

  /// Decoding refuses a changed undo, or any replica can undo it.
  @Test func undoOfChangedJSONKeepsReplicasSound() throws {
    var (undone, left) = (0, 0)
    for seed in UndoLawTests.seeds {
      let past = UndoPast(seed)
      let lacking = laws.copy(past.other)
      let undos = try saves(of: past)
      let trees = try undos.map {
        try JSONDecoder().decode(JSONTree.self, from: json($0))
      }
      let mutation = UndoMutation(trees)
      var random = SeededRandom(seed: seed)
      for number in 0..<8 where !trees.isEmpty {
        var tree = random.pick(trees)
        for _ in 0...random.number(below: 2) { mutation.mutate(&tree, &random) }
        let undo: UndoStep
        do { undo = try decoded(json(tree)) } catch is DecodingError {
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
    #expect(undone > 300 && left > 300)
  }

  /// Decoding refuses changed bytes, or they are the canonical form of a step
  /// that any replica can undo.
  @Test func undoOfChangedBytesKeepsReplicasSound() throws {
    var (refused, accepted, undone) = (0, 0, 0)
    for seed in UndoLawTests.seeds {
      let past = UndoPast(seed)
      let undos = try saves(of: past).filter { $0.dot != nil }
      var random = SeededRandom(seed: seed)
      for number in 0..<30 where !undos.isEmpty {
        let undo = random.pick(undos)
        var bytes = undo.encoded()
        for _ in 0...random.number(below: 2) {
          let place = 3 + random.number(below: bytes.count - 7)
          bytes[place] ^= 1 << UInt8(random.number(below: 8))
        }
        // Two changes of one bit cancel each other.
        if bytes == undo.encoded() { continue }
        let comment: Comment = "seed \(seed), change \(number)"
        do throws(WireError) {
          _ = try decoded(bytes, as: undo)
          Issue.record("the checksum misses a change, \(comment)")
        } catch {
          #expect(error.code == .checksumMismatch, comment)
        }
        let changed: UndoStep
        do throws(WireError) {
          changed = try decoded(resealed(bytes), as: undo)
        } catch {
          #expect((0...bytes.count).contains(error.offset), comment)
          refused += 1
          continue
        }
        #expect(changed.encoded() == resealed(bytes), comment)
        accepted += 1
        if try check(changed, on: past.one, comment) { undone += 1 }
      }
    }
    #expect(refused > 500 && accepted > 500 && undone > 100)
  }
}
