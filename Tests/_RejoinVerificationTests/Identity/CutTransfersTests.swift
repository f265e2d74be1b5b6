// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import _RejoinVerification

/// Parts of transfers among clones and restored backups, which also meet
/// through a relay.
@Suite struct CutTransfersTests {
  /// The histories of one kind.
  struct Histories: Sendable, CustomTestStringConvertible {
    let copies: Int
    let losses: Int
    let seeds: Range<UInt64>

    var testDescription: String {
      "up to \(copies) copies, \(losses) % lost, from seed \(seeds.lowerBound)"
    }
  }

  private static let kinds: [Histories] = {
    let count: UInt64 = Tier.isNightly ? 12_000 : 1_000
    return [
      Histories(copies: 2, losses: 50, seeds: 1_000..<(1_000 + count)),
      Histories(copies: 3, losses: 70, seeds: 2_000..<(2_000 + count)),
      Histories(copies: 3, losses: 0, seeds: 2_000..<(2_000 + count)),
    ]
  }()

  /// If a device relays a clone, some histories end unequal even with whole
  /// deltas.
  @Test(arguments: kinds)
  func partsEndEqualIfWholeDeltasDo(_ kind: Histories) throws {
    var (whole, parts) = ([] as [UInt64], [] as [UInt64])
    var counts = CutTransfers.Counts()
    for seed in kind.seeds {
      var one = CutTransfers(
        seed: seed, copies: kind.copies, losses: kind.losses, by: .wholeDeltas)
      var other = CutTransfers(
        seed: seed, copies: kind.copies, losses: kind.losses, by: .parts)
      if try !one.run() { whole.append(seed) }
      if try !other.run() { parts.append(seed) }
      counts += other.counts
    }
    print(
      "cut transfers, \(kind.testDescription): \(parts.count) of "
        + "\(kind.seeds.count) end unequal in parts, \(whole.count) in whole "
        + "deltas (\(counts))")
    // A prefix of a third history can be replaced before a message contradicts
    // it. This occurs in 8 of 12,000 histories.
    let rest = Set(parts).subtracting(whole).sorted()
    let limit = Tier.isNightly ? kind.seeds.count / 1_000 : 0
    #expect(rest.count <= limit, "seeds \(rest)")
    // The histories contain enough copies.
    #expect(counts.copies > kind.seeds.count / 3)
    #expect(counts.parts > 10 * kind.seeds.count)
    #expect(counts.cuts > kind.seeds.count / 3)
    #expect(counts.alarms > kind.seeds.count / 3)
  }
}
