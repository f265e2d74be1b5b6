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

  @Test(arguments: FuzzTarget.allCases)
  func formerFailuresHold(target: FuzzTarget) throws {
    let part = Self.folder.appendingPathComponent(target.rawValue)
    let files = try? FileManager.default.contentsOfDirectory(
      at: part, includingPropertiesForKeys: nil)
    for file in files ?? [] {
      let bytes = [UInt8](try Data(contentsOf: file))
      do { try target.check(bytes) } catch {
        Issue.record("\(file.lastPathComponent): \(error)")
      }
    }
  }

  @Test(arguments: FuzzTarget.allCases)
  func seedsHold(target: FuzzTarget) throws {
    let seeds = Seeds.inputs(of: target)
    #expect(seeds.count > 10)
    for (number, bytes) in seeds.enumerated() where number.isMultiple(of: 5) {
      do { try target.check(bytes) } catch {
        Issue.record("seed \(number): \(error)")
      }
    }
  }

  /// Contexts hold, and hubs refuse forged devices.
  @Test(arguments: [
    (FuzzTarget.contexts, 7 as UInt64, 3_000, 80), (.forge, 8, 1_000, 60),
  ])
  func randomInputsHold(
    target: FuzzTarget, seed: UInt64, count: Int, length: Int
  ) {
    var random = SeededRandom(seed: seed)
    for number in 0..<count {
      let bytes = (0..<length).map { _ in UInt8(random.number(below: 256)) }
      do { try target.check(bytes) } catch {
        Issue.record("input \(number): \(error)")
      }
    }
  }

  @Test(arguments: [FuzzTarget.decode, .open, .apply, .exchange])
  func damagedSeedsHold(target: FuzzTarget) throws {
    for (number, bytes) in Seeds.inputs(of: target).enumerated()
    where number.isMultiple(of: 7) {
      for bit in stride(from: 24 + number, to: bytes.count * 8, by: 149) {
        var damaged = bytes
        damaged[bit / 8] ^= 1 << UInt8(bit % 8)
        do { try target.check(damaged) } catch {
          Issue.record("seed \(number), bit \(bit): \(error)")
        }
      }
    }
  }

  @Test func resealedBytesHaveLibraryChecksum() {
    for bytes in LiveHistory.shared.messages {
      #expect(bytes.resealed == bytes)
      let damaged: [UInt8] = bytes.dropLast() + [~bytes[bytes.count - 1]]
      #expect(damaged.resealed == bytes)
    }
  }
}
