// SPDX-License-Identifier: Apache-2.0

import Harness
import Rejoin

extension Suite {
  /// Deltas: W8 to W11.
  mutating func addExchange() {
    addEqualStates()
    for size in [10_000, 100_000, 1_000_000] { addDelta(size) }
    addGrowth(
      of: "W9", "delta of 1 % of the fields: encode", from: 10_000,
      to: 1_000_000, target: 3)
    addGrowth(
      of: "W9", "delta of 1 % of the fields: apply", from: 10_000,
      to: 1_000_000, target: 3)
    for size in [1000, 10_000, 100_000, 1_000_000] { addRoundTrip(size) }
    addGrowth(
      of: "W10", "one write, its delta, applied", from: 1000, to: 1_000_000,
      target: 2)
    addBytes(
      "W10", "the delta of one write", target: 73, quick: 72
    ) { scale in
      let pair = try Pair(Dataset(fields: scale(100_000)))
      return try pair.roundTrips(1)
    }
    addSmallDeltas()
  }

  private mutating func addEqualStates() {
    add("W8", "merge of equal states", per: "merge", target: 180) { scale in
      finding(try Pair(Dataset(fields: scale(100_000))), scale(1000))
    }
    add("W8", "merge of equal states of 1,000 devices", per: "merge") { scale in
      let pair = try Pair(Dataset(fields: 10))
      for device in 3...1000 {
        let other = try Dataset.replica(device, copying: pair.a)
        try other.save { $0.ensureExists(RecordID("Item", "\(device)")) }
        guard let delta = other.delta(since: pair.a.version) else { continue }
        for replica in [pair.a, pair.b] { replica.apply(delta) }
      }
      return finding(pair, scale(1000))
    }
    /// Returns the work of finding `count` times that nothing is missing.
    func finding(_ pair: Pair, _ count: Int) -> Work {
      Work(operations: count, expecting: 0, setUp: {}) { _ in
        (0..<count).count { _ in pair.b.delta(since: pair.a.version) != nil }
      }
    }
  }

  private mutating func addDelta(_ size: Int) {
    /// Two replicas that have each changed a hundredth of the fields.
    @Sendable func pair(_ scale: Scale) throws -> Pair {
      let data = Dataset(fields: scale(size))
      let pair = try Pair(data)
      let count = max(data.fieldCount / 100, 1)
      for (i, replica) in [pair.a, pair.b].enumerated() {
        try replica.save { transaction in
          PlannedWrite.some(count, of: data, seed: UInt64(50 + i))
            .forEach(transaction.apply)
        }
      }
      return pair
    }
    add(
      "W9", "delta of 1 % of the fields: encode", size: size, per: "change",
      target: 150, beside: .insert
    ) { scale in
      let pair = try pair(scale)
      let basis = pair.b.version
      let delta = pair.a.delta(since: basis)
      let bytes = delta?.encoded().count ?? 0
      return Work(
        operations: delta?.fieldCount ?? 0, expecting: bytes, setUp: {}
      ) { _ in pair.a.delta(since: basis)?.encoded().count ?? 0 }
    }
    add(
      "W9", "delta of 1 % of the fields: apply", size: size, per: "change",
      target: 250, beside: .insert
    ) { scale in
      let pair = try pair(scale)
      let delta = pair.a.delta(since: pair.b.version)
      let bytes = delta?.encoded() ?? []
      let state = pair.b.state.encoded()
      return Work(
        operations: delta?.fieldCount ?? 0, expecting: 0,
        setUp: { try Dataset.replica(opening: state) }
      ) { replica in
        try bytes.withUnsafeBytes {
          try replica.apply(decoding: $0, reporting: .faults).gaps.count
        }
      }
    }
    guard size == 100_000 else { return }
    addBytes(
      "W9", "the delta of 1 % of the fields", size: size, target: 17_800,
      quick: 251
    ) { scale in
      let pair = try pair(scale)
      return pair.a.delta(since: pair.b.version)?.encoded().count ?? 0
    }
  }

  private mutating func addRoundTrip(_ size: Int) {
    add(
      "W10", "one write, its delta, applied", size: size, per: "write",
      target: 3000, beside: .insert
    ) { scale in
      let pair = try Pair(Dataset(fields: scale(size)))
      return pair.exchanging(scale(1000))
    }
  }

  private mutating func addSmallDeltas() {
    add(
      "W11", "apply deltas of one write", per: "delta", target: 1000,
      beside: .insert
    ) { scale in
      let data = Dataset(fields: scale(100_000))
      let pair = try Pair(data)
      let state = pair.b.state.encoded()
      let writes = PlannedWrite.some(scale(10_000), of: data)
      let deltas = try writes.map { write in
        let version = pair.a.version
        try pair.a.save { $0.apply(write) }
        return pair.a.delta(since: version)?.encoded() ?? []
      }
      let last = Int(pair.a.version.vectorClock[pair.a.device])
      return Work(
        operations: deltas.count, expecting: last,
        setUp: { try Dataset.replica(opening: state) }
      ) { replica in
        for delta in deltas {
          _ = try delta.withUnsafeBytes {
            try replica.apply(decoding: $0, reporting: .faults)
          }
        }
        return Int(replica.version.vectorClock[pair.a.device])
      }
    }
  }
}

/// Two replicas with equal content.
struct Pair {
  let data: Dataset
  let a: Replica
  let b: Replica

  init(_ data: Dataset) throws {
    self.data = data
    a = try data.replica(1)
    b = try Dataset.replica(2, copying: a)
    // Both replicas need a save.
    try b.save { $0.ensureExists(RecordID("Item", data.ids[0])) }
    if let delta = b.delta(since: a.version) { a.apply(delta) }
  }

  /// Returns the work of `count` round trips, after which no change is missing.
  func exchanging(_ count: Int) -> Work {
    Work(operations: count, expecting: 0, setUp: {}) { _ in
      _ = try roundTrips(count)
      return a.delta(since: b.version)?.fieldCount ?? 0
    }
  }

  /// Writes in one replica and applies the delta in the other.
  ///
  /// - Returns: The bytes of the last delta.
  func roundTrips(_ count: Int) throws -> Int {
    var bytes: [UInt8] = []
    for write in PlannedWrite.some(count, of: data) {
      try a.save { $0.apply(write) }
      bytes = a.delta(since: b.version)?.encoded() ?? []
      _ = try bytes.withUnsafeBytes {
        try b.apply(decoding: $0, reporting: .faults)
      }
    }
    return bytes.count
  }
}
