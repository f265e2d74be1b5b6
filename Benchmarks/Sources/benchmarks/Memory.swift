// SPDX-License-Identifier: Apache-2.0

import CAllocations
import Harness
import Rejoin

extension Suite {
  /// Resident memory: W16.
  ///
  /// Call this first: a replica takes memory that other work freed before it
  /// asks the system for more.
  mutating func addResidentMemory() {
    addBytes("W16", "memory of a field, resident", per: 1_000_000) { scale in
      let data = Dataset(fields: scale(1_000_000))
      let before = Int(resident_bytes())
      let replica = try data.replica()
      let held = Int(resident_bytes()) - before
      return withExtendedLifetime(replica) { held }
    }
  }

  /// Allocated memory: W16.
  mutating func addMemory() {
    addBytes("W16", "memory of a field", per: 1_000_000, target: 100) { scale in
      let data = Dataset(fields: scale(1_000_000))
      let before = Int(allocated_bytes())
      let replica = try data.replica()
      let held = Int(allocated_bytes()) - before
      return withExtendedLifetime(replica) { held }
    }
    addPeak("a whole delta") { scale in
      let replica = try Dataset(fields: scale(100_000)).replica()
      return { replica.delta()?.encoded().count ?? 0 }
    }
    addPeak("a delta of 1 % of the fields") { scale in
      let data = Dataset(fields: scale(1_000_000))
      let pair = try Pair(data)
      try pair.a.save { transaction in
        PlannedWrite.some(data.fieldCount / 100, of: data, seed: 50)
          .forEach(transaction.apply)
      }
      let basis = pair.b.version
      return { pair.a.delta(since: basis)?.encoded().count ?? 0 }
    }
    addPeak("a save into an empty replica") { scale in
      let data = Dataset(fields: scale(100_000))
      let replica = Dataset.emptyReplica(1)
      return {
        let before = Int(allocated_bytes())
        try data.write(to: replica)
        return Int(allocated_bytes()) - before
      }
    }
  }

  /// Adds a row with the peak memory of a work, less 64 KiB, for each byte of
  /// its result.
  ///
  /// For a save, these are the bytes that are allocated afterwards.
  private mutating func addPeak(
    _ result: String, _ setUp: @escaping (Scale) throws -> () throws -> Int
  ) {
    addBytes(
      "W16", "memory at most for a byte of \(result)", per: 100, target: 2
    ) { scale in
      let make = try setUp(scale)
      watch_peak()
      let bytes = try make()
      let peak = Int(watched_peak())
      guard bytes > 0, peak > 0 else {
        throw HarnessError("the system does not tell how much memory is in use")
      }
      return max(peak - 65_536, 0) * 100 / bytes
    }
  }
}
