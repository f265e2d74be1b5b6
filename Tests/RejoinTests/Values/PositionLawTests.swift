// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting
import Testing
import _RejoinVerification

/// Positions, compared with their definition.
@Suite struct PositionLawTests {
  private struct Item: Entity {
    let position = lww("position", of: Position.self)
  }

  /// Returns positions that two devices and a copy of one make in random gaps.
  private func positions(_ random: inout SeededRandom) throws -> [Position] {
    let replicas = [1, 2, 1].map {
      Replica(
        device: DeviceID($0), schema: [Item.self],
        wallClock: WallClock { 1_000_000 }, makeDeviceID: { DeviceID(9) })
    }
    var positions: [Position] = []
    for _ in 0..<random.number(below: 60) {
      let gap = random.number(below: positions.count + 1)
      try random.pick(replicas).save { transaction in
        let position = transaction.position(
          between: gap > 0 ? positions[gap - 1] : nil,
          and: gap < positions.count ? positions[gap] : nil)
        transaction[Item.self, "\(gap)"].position = position
        if !positions.contains(position) {
          positions.insert(position, at: gap)
        }
      }
    }
    #expect(positions == positions.sorted())
    return positions
  }

  @Test(arguments: 0..<8) func changedBytesKeepLaws(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var accepted = 0
    for _ in 0..<40 {
      for position in try positions(&random) {
        guard case .bytes(let bytes) = position.fieldValue else { continue }
        try PositionLaws.check(bytes)
        var changed = bytes
        for _ in 0..<random.number(below: 3) {
          changed[random.number(below: changed.count)] = UInt8(
            random.number(below: 256))
        }
        if random.chance(percent: 30) {
          changed.removeLast(random.number(below: 4))
        }
        if random.chance(percent: 30) { changed += bytes.suffix(3) }
        try PositionLaws.check(changed)
        accepted += Position(fieldValue: .bytes(changed)) == nil ? 0 : 1
      }
    }
    #expect(accepted > 100)
  }

  /// The definition is tested with positions that were written by hand.
  @Test func definitionAcceptsKnownForms() throws {
    // The tag, save 3 and count 0. Below it, the same device and save 17.
    let first: [UInt8] = [1, 2, 3, 4, 5, 6, 0x83, 0x81]
    for bytes in [first, first + [0, 0x90, 17, 0x81]] {
      #expect(Position(fieldValue: .bytes(bytes)) != nil)
      try PositionLaws.check(bytes)
    }
    // A longer form of a number, the known tag as a new one, and an unknown one.
    let others: [[UInt8]] = [
      [1, 2, 3, 4, 5, 6, 0x90, 3, 0x81],
      first + [0xff, 1, 2, 3, 4, 5, 6, 0x83, 0x81], first + [1, 0x83, 0x81],
      first.dropLast() + [0x80], [],
    ]
    for bytes in others {
      #expect(Position(fieldValue: .bytes(bytes)) == nil)
      try PositionLaws.check(bytes)
    }
  }
}
