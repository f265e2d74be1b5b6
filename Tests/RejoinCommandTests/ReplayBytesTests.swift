// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import RejoinCommand
@testable import _RejoinVerification

/// The bytes that `rejoin replay --bytes` prints for long histories.
@Suite struct ReplayBytesTests {
  init() throws { try Premises.check() }

  /// The state of a device, without its name.
  private struct Shown: Decodable {
    let clock: [String: UInt64]
    let gaps: Int
    let bytes: String
  }

  /// Returns a script with every kind of step except reused device IDs.
  ///
  /// At its end, all devices sync until no changes are missing. Retirements are
  /// rare, because devices that retired others may end differently.
  private func script(_ seed: UInt64, steps: Int) -> Script {
    var weights = ScriptWeights()
    (weights.unnoticedRestores, weights.forks) = (0, 6)
    if !seed.isMultiple(of: 3) { weights.retirements = 0 }
    var script = ScriptGenerator.script(
      seed: seed, steps: steps, weights: weights)
    let forks = script.steps.filter {
      if case .fork = $0 { true } else { false }
    }
    let devices = 0..<(script.deviceCount + forks.count)
    for _ in 0..<2 {
      for i in devices {
        script.steps += devices.filter { $0 != i }
          .map { .sync(from: i, to: $0) }
      }
    }
    return script
  }

  @Test func equalClocksShowEqualBytes() throws {
    let scripts: UInt64 = 24
    var (steps, shown, pairs, settled) = (0, 0, 0, 0)
    for seed in 0..<scripts {
      let script = script(seed, steps: 300)
      steps += script.steps.count
      var printed: [String] = []
      try Replay.run(script.replayText(), showsBytes: true) {
        printed.append($0)
      }
      let all = try printed.filter { $0.hasPrefix("{\"bytes\"") }
        .map { try JSONDecoder().decode(Shown.self, from: Data($0.utf8)) }
      let groups = Dictionary(grouping: all, by: \.clock).values
      shown += all.count
      settled += groups.count == 1 ? 1 : 0
      for same in groups {
        pairs += same.count * (same.count - 1) / 2
        let bytes = Set(same.map(\.bytes))
        #expect(bytes.count == 1, "seed \(seed): \(same)")
      }
    }
    print(
      "\(scripts) scripts of \(steps) steps: of \(shown) states, \(pairs) pairs "
        + "know the same and show the same bytes; \(settled) scripts end with "
        + "all devices the same")
    #expect(pairs > 200)
  }
}
