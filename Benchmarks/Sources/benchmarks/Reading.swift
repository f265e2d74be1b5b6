// SPDX-License-Identifier: Apache-2.0

import Harness
import Rejoin

extension Suite {
  /// Many records at once: W18.
  mutating func addReading() {
    let size = 100_000
    func replica(_ scale: Scale) throws -> Replica {
      let replica = Dataset.emptyReplica(1)
      let ids = Dataset(records: scale(size)).ids
      try replica.save { transaction in
        for (i, id) in ids.enumerated() {
          transaction.apply(
            .write(Dataset.value(i, 0)), to: Dataset.keys[0],
            of: RecordID("Item", id))
        }
      }
      // One conflict.
      let other = Dataset.emptyReplica(2)
      try other.save {
        $0.apply(
          .write("other"), to: Dataset.keys[0], of: RecordID("Item", ids[0]))
      }
      if let delta = other.delta() { replica.apply(delta) }
      return replica
    }
    add(
      "W18", "list the records of an entity", size: size, per: "list",
      target: 2_000_000
    ) { scale in
      let replica = try replica(scale)
      return Work(operations: 1, expecting: scale(size), setUp: {}) { _ in
        replica.recordIDs(of: "Item").count
      }
    }
    add(
      "W18", "count the records of an entity", size: size, per: "count",
      target: 1000
    ) { scale in
      let replica = try replica(scale)
      return Work(operations: 1, expecting: scale(size), setUp: {}) { _ in
        replica.recordCount(of: "Item")
      }
    }
    add(
      "W18", "the first page of 50 records", size: size, per: "page",
      target: 50_000
    ) { scale in
      let replica = try replica(scale)
      return Work(
        operations: 1, expecting: min(50, scale(size)), setUp: {}
      ) { _ in
        replica.recordIDs(of: "Item", limit: 50).compactMap(replica.record)
          .count
      }
    }
    add(
      "W18", "the records with conflicts", size: size, per: "list",
      target: 50_000
    ) { scale in
      let replica = try replica(scale)
      return Work(operations: 1, expecting: 1, setUp: {}) { _ in
        replica.conflictedFields(of: "Item").count
      }
    }
  }
}
