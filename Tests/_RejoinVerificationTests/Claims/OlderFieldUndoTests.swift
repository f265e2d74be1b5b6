// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting
import Testing
import _RejoinVerification

/// The first version of an app's entity.
private struct First: Entity {
  static let entityName = "Item"
  let tags = register("tags", of: Int.self)
  let stock = counter("stock")
}

/// The second version, whose fields fall back to those of the first.
private struct Second: Entity {
  static let entityName = "Item"
  let tags = set(
    "tags", of: Int.self, fallingBackTo: .register(of: Int.self) { $0 })
  let stock = register(
    "stock", of: Int.self, fallingBackTo: .counter { Int($0) })
  let name = register("name", of: Int.self)
}

/// Undo and redo of random saves whose fields fall back to older ones.
@Suite struct OlderFieldUndoTests {
  private static let seeds: ClosedRange<UInt64> =
    Tier.isNightly ? 1...4000 : 1...300

  /// The values that the second version shows.
  ///
  /// Creating a reading returns `nil` if the record does not exist.
  private struct Reading: Equatable {
    let tags: [Int]
    let stock: Int?
    let name: Int?

    init?(_ replica: Replica) {
      guard let item = replica[Second.self, "1"] else { return nil }
      (tags, stock, name) = (item.tags, item.stock, item.name)
    }
  }

  private let id = RecordID("Item", "1")

  private func replica(_ device: UInt64, _ schema: Schema) -> Replica {
    Replica(
      device: DeviceID(device), schema: schema,
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(99) })
  }

  private func edit(
    _ item: RecordEditor<Second>, _ random: inout SeededRandom
  ) {
    let number = random.number(below: 4)
    switch random.number(below: 6) {
    case 0: item.tags.remove(number)
    case 1: item.tags.removeAll()
    case 2: item.stock = number
    case 3: item.stock = nil
    case 4: item.name = number
    default: item.tags.insert(number)
    }
  }

  /// Saves random edits, which may delete the record or create it again.
  private func save(
    on replica: Replica, _ random: inout SeededRandom
  ) throws -> SaveReport {
    var random = random
    return try replica.save(undoable: "Edit") { transaction in
      switch random.number(below: 4) {
      case 0: transaction.delete(id)
      case 1:
        edit(transaction[Second.self, "1"], &random)
        transaction.delete(id)
        edit(transaction[Second.self, "1"], &random)
      case 2:
        transaction.delete(id)
        edit(transaction[Second.self, "1"], &random)
        edit(transaction[Second.self, "1"], &random)
      default: edit(transaction[Second.self, "1"], &random)
      }
    }
  }

  @Test func undoAndRedoRestoreShownValues() throws {
    var (moves, fallbacks) = (0, 0)
    for seed in Self.seeds {
      var random = SeededRandom(seed: seed)
      let old = replica(1, [First.self])
      let (one, other) = (replica(2, [Second.self]), replica(3, [Second.self]))
      for step in 0..<12 {
        if random.chance(percent: 40) {
          try old.save { transaction in
            transaction[First.self, "1"].tags = random.number(below: 4)
            transaction[First.self, "1"].stock.increment(by: 5)
          }
          one.merge(old)
        }
        if random.chance(percent: 20) {
          _ = try save(on: other, &random)
          one.merge(other)
        }
        let before = Reading(one)
        random = SeededRandom(seed: seed * 100 + UInt64(step))
        guard try save(on: one, &random).dot != nil else { continue }
        let after = Reading(one)
        for _ in 0..<2 {
          // An undo without an effect cannot be redone.
          guard case .done(let undone) = try one.undo(), undone.dot != nil
          else {
            #expect(Reading(one) == before, "seed \(seed), step \(step)")
            break
          }
          #expect(Reading(one) == before, "seed \(seed), step \(step)")
          _ = try one.redo()
          #expect(Reading(one) == after, "seed \(seed), step \(step)")
        }
        moves += before == after ? 0 : 1
        fallbacks +=
          before?.tags.isEmpty == false
            && one.record(id)?.elements(of: FieldKey("tags", .set)).isEmpty
              != false
          ? 1 : 0
        if random.chance(percent: 50) { other.merge(one) }
        if random.chance(percent: 20) { old.merge(one) }
      }
    }
    #expect(moves > 500 && fallbacks > 50)
  }
}
