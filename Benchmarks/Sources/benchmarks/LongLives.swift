// SPDX-License-Identifier: Apache-2.0

import Harness
import Rejoin

extension Suite {
  /// Adds the remains of a long history: W19.
  mutating func addLongLives() {
    addBytes(
      "W19", "stored after a million saves of one field", target: 64_000,
      quick: 30942
    ) { scale in
      let replica = Dataset.emptyReplica(1)
      for i in 0..<scale(1_000_000) {
        try replica.save {
          $0.apply(
            .write(.int(Int64(i))), to: Dataset.keys[0],
            of: RecordID("Item", "r"))
        }
      }
      return replica.state.encoded().count
    }
    addBytes(
      "W19", "stored by a hub that met 4,000 devices", target: 2_000_000,
      quick: 1278
    ) { scale in
      let hub = Dataset.emptyReplica(0)
      for i in 1...scale(4000) {
        let device = Dataset.emptyReplica(i)
        try device.save { $0.ensureExists(RecordID("Item", "r")) }
        hub.recordVersion(device.version, of: device.device)
        if let delta = device.delta(since: hub.version) { hub.apply(delta) }
      }
      return hub.state.encoded().count
    }
    addBytes(
      "W19", "stored for each of 10,000 purged records", per: 10_000,
      target: 30, quick: 2892
    ) { scale in
      let data = Dataset(records: scale(10_000))
      let replica = try data.replica()
      try replica.save { transaction in
        for id in data.ids { transaction.delete(RecordID("Item", id)) }
      }
      // The first purge announces what the second one drops.
      for _ in 1...2 { try replica.purgeDeletedRecords() }
      return replica.state.encoded().count
    }
  }
}
