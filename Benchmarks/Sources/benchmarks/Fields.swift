// SPDX-License-Identifier: Apache-2.0

import Harness
import Rejoin

extension Suite {
  /// Writing and reading fields by string IDs: W1 to W3.
  mutating func addFields() {
    addFirstWrites("write into an empty replica, one save", target: 250) { $0 }
    // Swift stores up to 15 bytes of a string in place.
    addFirstWrites("write values of 24 characters, one save") { value in
      guard case .string(let text) = value else { return value }
      return .string(text + text)
    }
    add(
      "W2", "overwrite, one save", per: "field", target: 290, beside: .insert
    ) { scale in
      let data = Dataset(fields: scale(100_000))
      let replica = try data.replica()
      let writes = PlannedWrite.some(data.fieldCount, of: data)
      return Work(operations: writes.count, expecting: 1, setUp: {}) { _ in
        let before = replica.version.vectorClock.entries[0].count
        try replica.save { transaction in writes.forEach(transaction.apply) }
        return Int(replica.version.vectorClock.entries[0].count - before)
      }
    }
    add(
      "W2", "overwrite, a save each", per: "save", target: 600, beside: .insert
    ) { scale in
      let data = Dataset(fields: scale(100_000))
      let replica = try data.replica()
      let writes = PlannedWrite.some(scale(10_000), of: data)
      return Work(
        operations: writes.count, expecting: writes.count, setUp: {}
      ) { _ in
        let before = replica.version.vectorClock.entries[0].count
        for write in writes {
          try replica.save { transaction in transaction.apply(write) }
        }
        return Int(replica.version.vectorClock.entries[0].count - before)
      }
    }
    add("W3", "read", per: "field", target: 185, beside: .lookUp) { scale in
      let data = Dataset(fields: scale(100_000))
      let replica = try data.replica()
      let places = PlannedWrite.some(data.fieldCount, of: data)
      return Work(
        operations: places.count, expecting: places.count * 12, setUp: {}
      ) { _ in
        var length = 0
        for place in places {
          let record = replica.record(RecordID("Item", place.id))
          if case .string(let text)? = record?.value(of: place.key) {
            length += text.utf8.count
          }
        }
        return length
      }
    }
  }

  private mutating func addFirstWrites(
    _ work: String, target: Double? = nil,
    _ value: @escaping (Value) -> Value
  ) {
    add("W1", work, per: "field", target: target, beside: .insert) { scale in
      let writes = PlannedWrite.all(of: Dataset(fields: scale(100_000))).map {
        PlannedWrite(id: $0.id, key: $0.key, value: value($0.value))
      }
      return Work(
        operations: writes.count, expecting: writes.count / 10,
        setUp: { Dataset.emptyReplica(1) }
      ) { replica in
        try replica.save { transaction in writes.forEach(transaction.apply) }
        return replica.recordIDs(of: "Item").count
      }
    }
  }
}
