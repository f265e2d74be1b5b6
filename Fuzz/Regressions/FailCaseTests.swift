// SPDX-License-Identifier: Apache-2.0

import Foundation
import FuzzBodies
import RejoinTesting
import _RejoinVerification
import Testing

/// Inputs that failed in the fuzzer do not fail again.
@Suite struct FailCaseTests {
  init() throws { try Premises.check() }

  /// The inputs that failed, in one folder per target.
  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Fuzz/FailCases")

  /// Expects that the inputs hold, on a thread of its own.
  ///
  /// A body may wait for tasks, which could then lack a thread.
  private func expect(
    _ inputs: [(name: String, bytes: [UInt8])], of target: FuzzTarget
  ) async {
    let failures = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var failures: [String] = []
        for (name, bytes) in inputs {
          do { try target.check(bytes) } catch {
            failures.append("\(name): \(error)")
          }
        }
        continuation.resume(returning: failures)
      }
    }
    for failure in failures { Issue.record("\(failure)") }
  }

  @Test(arguments: FuzzTarget.allCases)
  func formerFailuresHold(target: FuzzTarget) async throws {
    let part = Self.folder.appendingPathComponent(target.rawValue)
    let files = try? FileManager.default.contentsOfDirectory(
      at: part, includingPropertiesForKeys: nil)
    let inputs = try (files ?? []).map { file in
      (file.lastPathComponent, [UInt8](try Data(contentsOf: file)))
    }
    await expect(inputs, of: target)
  }

  @Test(arguments: FuzzTarget.allCases)
  func seedsHold(target: FuzzTarget) async {
    let seeds = await seeds(of: target)
    #expect(seeds.count > 10)
    let inputs = seeds.enumerated().filter { $0.offset.isMultiple(of: 5) }
    await expect(inputs.map { ("seed \($0)", $1) }, of: target)
  }

  private func seeds(of target: FuzzTarget) async -> [[UInt8]] {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(returning: Seeds.inputs(of: target))
      }
    }
  }

  /// Contexts hold, and hubs refuse forged devices.
  @Test(arguments: [
    (FuzzTarget.contexts, 7 as UInt64, 3_000, 80), (.forge, 8, 1_000, 60),
  ])
  func randomInputsHold(
    target: FuzzTarget, seed: UInt64, count: Int, length: Int
  ) async {
    var random = SeededRandom(seed: seed)
    let inputs = (0..<count).map { number in
      let bytes = (0..<length).map { _ in UInt8(random.number(below: 256)) }
      return ("input \(number)", bytes)
    }
    await expect(inputs, of: target)
  }

  @Test(arguments: [FuzzTarget.decode, .open, .apply, .exchange, .objects])
  func damagedSeedsHold(target: FuzzTarget) async {
    var inputs: [(String, [UInt8])] = []
    for (number, bytes) in await seeds(of: target).enumerated()
    where number.isMultiple(of: 7) {
      for bit in stride(from: 24 + number, to: bytes.count * 8, by: 149) {
        var damaged = bytes
        damaged[bit / 8] ^= 1 << UInt8(bit % 8)
        inputs.append(("seed \(number), bit \(bit)", damaged))
      }
    }
    await expect(inputs, of: target)
  }

  @Test func resealedBytesHaveLibraryChecksum() {
    for bytes in LiveHistory.shared.messages {
      #expect(bytes.resealed == bytes)
      let damaged: [UInt8] = bytes.dropLast() + [~bytes[bytes.count - 1]]
      #expect(damaged.resealed == bytes)
    }
  }
}
