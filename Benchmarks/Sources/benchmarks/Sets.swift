// SPDX-License-Identifier: Apache-2.0

import Harness
import Rejoin

extension Suite {
  /// Add-wins sets: W6 and W7.
  mutating func addSets() {
    addEdits()
    addEditsInRecord(scales: [1000, 10_000])
    let join = "set join, two that differ in a tenth"
    for size in [10_000, 100_000, 1_000_000] {
      addJoin(join, size)
    }
    addGrowth(of: "W7", join, from: 10_000, to: 1_000_000, target: 3)
  }

  private mutating func addEdits() {
    add(
      "W6", "set insert", per: "element", target: 110, beside: .insert
    ) { scale in
      let elements = Self.elements(scale(100_000), seed: 7)
      return Work(
        operations: elements.count, expecting: elements.count,
        setUp: { ORSet<String>() }
      ) { set in
        for element in elements { set.insert(element, on: Dataset.device(1)) }
        return set.count
      }
    }
    add(
      "W6", "set remove", per: "element", target: 60, beside: .lookUp
    ) { scale in
      let elements = Self.elements(scale(100_000), seed: 7)
      let half = elements.count / 2
      return Work(
        operations: half, expecting: elements.count - half,
        setUp: { Self.set(elements, device: 1) }
      ) { set in
        for element in elements[..<half] {
          set.remove(element, on: Dataset.device(1))
        }
        return set.count
      }
    }
  }

  private mutating func addEditsInRecord(scales: [Int]) {
    let key = FieldKey("tags", .set)
    let schema = Schema(["Item": .init(fields: [key])])
    let id = RecordID("Item", "r")
    for size in scales {
      add(
        "W6", "set insert in a record, one save", size: size, per: "element",
        target: 110, beside: .insert
      ) { scale in
        let elements = Self.elements(scale(size), seed: 7)
        return Work(
          operations: elements.count, expecting: elements.count,
          setUp: { Dataset.emptyReplica(1, schema: schema) }
        ) { replica in
          try replica.save { transaction in
            for element in elements {
              transaction.apply(
                .members(SetEdit(inserting: [.string(element)])), to: key,
                of: id)
            }
          }
          return 1
        } result: { replica, _ in
          // The time excludes reading, because it sorts the elements.
          replica.record(id)?.elements(of: FieldKey("tags", .set)).count ?? 0
        }
      }
    }
    add(
      "W6", "set remove in a record, one save", size: 10_000, per: "element",
      beside: .lookUp
    ) { scale in
      let elements = Self.elements(scale(10_000), seed: 7).map {
        Value.string($0)
      }
      let half = elements.count / 2
      return Work(
        operations: half, expecting: elements.count - half,
        setUp: {
          let replica = Dataset.emptyReplica(1, schema: schema)
          try replica.save {
            $0.apply(.members(SetEdit(inserting: elements)), to: key, of: id)
          }
          return replica
        }
      ) { replica in
        try replica.save { transaction in
          for element in elements[..<half] {
            transaction.apply(
              .members(SetEdit(inserting: [], removing: [element])), to: key,
              of: id)
          }
        }
        return 1
      } result: { replica, _ in
        replica.record(id)?.elements(of: key).count ?? 0
      }
    }
  }

  private mutating func addJoin(_ work: String, _ size: Int) {
    add(
      "W7", work, size: size, per: "element", target: 30, beside: .walk
    ) { scale in
      let size = scale(size)
      let common = Self.elements(size * 9 / 10, seed: 7)
      let base = Self.set(common, device: 1)
      var (one, other) = (base, base)
      for element in Self.elements(size / 10, seed: 8) {
        one.insert(element, on: Dataset.device(1))
      }
      for element in Self.elements(size / 10, seed: 9) {
        other.insert(element, on: Dataset.device(2))
      }
      let (mine, theirs) = (one, other)
      let own = Self.elements(size / 10, seed: 8)
      return Work(
        operations: size, expecting: size * 9 / 10 + 2 * own.count,
        // After a change, the replica shares no memory with that of the next
        // run.
        setUp: {
          var copy = mine
          copy.insert(own[0], on: Dataset.device(1))
          return copy
        }
      ) { set in
        set.merge(theirs)
        return set.count
      }
    }
  }

  static func elements(_ count: Int, seed: UInt64) -> [String] {
    (1...count).map { i in
      String(
        Dataset.mix(seed &+ UInt64(i) &* 0x9e37_79b9_7f4a_7c15) >> 4, radix: 16)
    }
  }

  private static func set(_ elements: [String], device: Int) -> ORSet<String> {
    var set = ORSet<String>()
    for element in elements { set.insert(element, on: Dataset.device(device)) }
    return set
  }
}
