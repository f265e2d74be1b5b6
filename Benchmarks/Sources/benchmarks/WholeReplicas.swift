// SPDX-License-Identifier: Apache-2.0

import Harness
import Rejoin

extension Suite {
  /// Whole replicas as bytes: W12 and W15.
  mutating func addWholeReplicas() {
    for size in [10_000, 100_000, 1_000_000] { addWholeReplica(size) }
    for work in ["whole replica: encode", "whole replica: load"] {
      addGrowth(of: "W12", work, from: 10_000, to: 1_000_000, target: 3)
    }
    addBytes(
      "W12", "the whole replica", size: 100_000, target: 1_350_000, quick: 13401
    ) { scale in
      try Dataset(fields: scale(100_000)).replica().deltaSize
    }
    addHistory()
  }

  private mutating func addWholeReplica(_ size: Int) {
    add(
      "W12", "whole replica: encode", size: size, per: "field", target: 70,
      beside: .copy
    ) { scale in
      let data = Dataset(fields: scale(size))
      let replica = try data.replica()
      let bytes = replica.deltaSize
      return Work(
        operations: data.fieldCount, expecting: bytes, setUp: {}
      ) { _ in replica.deltaSize }
    }
    if size == 100_000 { addOneRead(size) }
    add(
      "W12", "whole replica: load", size: size, per: "field", target: 90,
      beside: .insert
    ) { scale in
      let data = Dataset(fields: scale(size))
      return data.loading(try data.replica().state.encoded())
    }
  }

  private mutating func addOneRead(_ size: Int) {
    add(
      "W12", "whole replica: load, read one value", size: size, per: "load"
    ) { scale in
      let data = Dataset(fields: scale(size))
      let state = try data.replica().state.encoded()
      return Work(
        operations: 1, expecting: 12, setUp: { nil as Replica? }
      ) { opened in
        let replica = try Dataset.replica(opening: state)
        opened = replica
        let record = replica.record(RecordID("Item", data.ids[7]))
        guard case .string(let text)? = record?.value(of: Dataset.keys[3])
        else { return 0 }
        return text.utf8.count
      }
    }
  }

  private mutating func addHistory() {
    /// Overwrites random fields, a hundred in each save.
    func overwritten(_ data: Dataset, _ count: Int) throws -> Replica {
      let replica = try data.replica()
      let writes = PlannedWrite.some(count, of: data, seed: 21)
      for start in stride(from: 0, to: count, by: 100) {
        try replica.save { transaction in
          for i in start..<min(start + 100, count) {
            let (id, key) = (writes[i].id, writes[i].key)
            transaction.apply(
              .write(Dataset.value(i, Int(i & 255), version: 3)), to: key,
              of: RecordID("Item", id))
          }
        }
      }
      return replica
    }
    for count in [0, 300_000] {
      func writes(_ scale: Scale) -> Int {
        count == 0 ? 0 : scale(count)
      }
      addBytes(
        "W15", "the whole replica after \(count) overwrites", size: 10_000,
        quick: count == 0 ? 1422 : 1734
      ) { scale in
        try overwritten(
          Dataset(fields: scale(10_000)), writes(scale)
        ).deltaSize
      }
      add(
        "W15", "load after \(count) overwrites", size: 10_000, per: "field",
        beside: .insert
      ) { scale in
        let data = Dataset(fields: scale(10_000))
        let replica = try overwritten(data, writes(scale))
        return data.loading(replica.state.encoded())
      }
    }
  }
}

extension Replica {
  /// The number of bytes of a delta of the whole replica.
  fileprivate var deltaSize: Int { delta()?.encoded().count ?? 0 }
}

extension Dataset {
  /// The work of opening a stored state with the records of this data.
  fileprivate func loading(_ state: [UInt8]) -> Work {
    Work(
      operations: fieldCount, expecting: ids.count,
      setUp: { nil as Replica? }
    ) { replica in
      let loaded = try Dataset.replica(opening: state)
      replica = loaded
      return loaded.recordIDs(of: "Item").count
    }
  }
}
