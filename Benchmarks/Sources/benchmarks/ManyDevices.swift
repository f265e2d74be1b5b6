// SPDX-License-Identifier: Apache-2.0

import Harness
import Rejoin

extension Suite {
  /// Adds one key that many clients set, B3 of crdt-benchmarks, and replicas
  /// with saves of many devices: W13 and W14.
  mutating func addManyDevices() {
    let values: [(name: String, value: (Int) -> Value)] = [
      ("B3.1 numbers", { .double(Double($0)) }),
      ("B3.3 strings", { .string(String(repeating: "\($0)", count: 1540)) }),
    ]
    for (name, value) in values { addOneKey(name, value) }
    addBytes(
      "W13", "B3.1: the document", target: 42_000, quick: 632
    ) { scale in
      let hub = Dataset.emptyReplica(0)
      for update in try Self.updates(scale(1540), { .double(Double($0)) }) {
        try hub.apply(Delta(decoding: update), reporting: .faults)
      }
      return hub.delta()?.encoded().count ?? 0
    }
    for devices in [2, 1000] {
      addOneWrite(devices)
      addBytes(
        "W14", "the delta of one write, among \(devices) devices",
        quick: 72
      ) { scale in
        let pair = try Self.pair(devices: devices, scale)
        let version = pair.a.version
        try pair.a.save {
          $0.apply(PlannedWrite.some(1, of: pair.data)[0])
        }
        return pair.a.delta(since: version)?.encoded().count ?? 0
      }
    }
    addGrowth(
      of: "W14", "one write, its delta, applied; devices", from: 2, to: 1000,
      target: 2)
  }

  private mutating func addOneKey(
    _ name: String, _ value: @escaping (Int) -> Value
  ) {
    add(
      "W13", "\(name), one by one", per: "all", target: 5_000_000
    ) { scale in
      let updates = try Self.updates(scale(1540), value)
      return Work(
        operations: 1, expecting: updates.count - 1,
        setUp: { Dataset.emptyReplica(0) }
      ) { hub in
        for update in updates {
          _ = try update.withUnsafeBytes {
            try hub.apply(decoding: $0, reporting: .faults)
          }
        }
        let field = FieldKey("f0", .register)
        return hub.record(Self.theRecord)?.conflictingValues(of: field).count
          ?? 0
      }
    }
    add("W13", "\(name), batched", per: "all", target: 1_000_000) { scale in
      let updates = try Self.updates(scale(1540), value)
      let relay = Dataset.emptyReplica(0)
      for update in updates { relay.apply(try Delta(decoding: update)) }
      let batch = relay.delta()?.encoded() ?? []
      return Work(
        operations: 1, expecting: updates.count - 1,
        setUp: { Dataset.emptyReplica(0) }
      ) { hub in
        _ = try batch.withUnsafeBytes {
          try hub.apply(decoding: $0, reporting: .faults)
        }
        let field = FieldKey("f0", .register)
        return hub.record(Self.theRecord)?.conflictingValues(of: field).count
          ?? 0
      }
    }
  }

  private static let theRecord = RecordID("Item", "r00000")

  /// Returns the update of each client.
  private static func updates(
    _ clients: Int, _ value: (Int) -> Value
  ) throws -> [[UInt8]] {
    try (0..<clients).map { i in
      let client = Dataset.emptyReplica(i + 1)
      try client.save {
        $0.apply(.write(value(i)), to: Dataset.keys[0], of: theRecord)
      }
      return client.delta()?.encoded() ?? []
    }
  }

  private mutating func addOneWrite(_ devices: Int) {
    add(
      "W14", "one write, its delta, applied; devices", size: devices,
      per: "write", beside: .insert
    ) { scale in
      let pair = try Self.pair(devices: devices, scale)
      return pair.exchanging(scale(1000))
    }
  }

  /// Returns two replicas with saves of many devices.
  private static func pair(devices: Int, _ scale: Scale) throws -> Pair {
    let pair = try Pair(Dataset(fields: scale(10_000)))
    for i in 2..<max(scale(devices), 3) {
      let other = Dataset.emptyReplica(100 + i)
      try other.save { $0.ensureExists(RecordID("Item", pair.data.ids[0])) }
      for replica in [pair.a, pair.b] {
        if let delta = other.delta() { replica.apply(delta) }
      }
    }
    return pair
  }
}
