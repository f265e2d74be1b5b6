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
    add(
      "W12", "whole replica: load", size: size, per: "field", target: 90,
      beside: .insert
    ) { scale in
      let data = Dataset(fields: scale(size))
      return data.loading(try data.replica().state.encoded())
    }
  }

  private mutating func addHistory() {
    func overwritten(_ data: Dataset, _ times: Int) throws -> Replica {
      let replica = try data.replica()
      for version in 0..<times {
        try data.write(to: replica, version: version + 1)
      }
      return replica
    }
    for times in [0, 30] {
      addBytes(
        "W15", "the whole replica after \(times) overwrites", size: 10_000,
        quick: 1422
      ) { scale in
        try overwritten(Dataset(fields: scale(10_000)), times).deltaSize
      }
      add(
        "W15", "load after \(times) overwrites", size: 10_000, per: "field",
        beside: .insert
      ) { scale in
        let data = Dataset(fields: scale(10_000))
        return data.loading(try overwritten(data, times).state.encoded())
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
