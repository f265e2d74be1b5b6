// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting
import Testing
import _RejoinVerification

@Suite(.encodes) struct ListingTests {
  private let schema = Schema([
    "Kept": .init(fields: [FieldKey("name", .register)]),
    "Lost": .init(
      fields: [FieldKey("name", .register)], deletion: .deleteWins),
  ])

  private func replica(_ device: UInt64) -> Replica {
    Replica(
      device: DeviceID(device), schema: schema,
      wallClock: ManualClock().wallClock,
      makeDeviceID: { DeviceID(device + 100) })
  }

  /// Returns the existing records of an entity, each looked up by itself.
  private func existing(
    _ replica: Replica, _ entity: String, _ ids: [RecordID]
  ) -> [RecordID] {
    ids.filter { $0.entity == entity && replica.exists($0) }.sorted()
  }

  /// Lists IDs by the functions of the protocol.
  private static func first(
    _ limit: Int, of entity: String, in replica: some ReadableReplica
  ) -> [RecordID] {
    let all = replica.recordIDs(of: entity)
    guard limit > 0, let first = all.first else {
      return replica.recordIDs(of: entity, limit: limit)
    }
    return [first]
      + replica.recordIDs(of: entity, after: first.key).prefix(limit - 1)
  }

  private func check(_ replica: Replica, _ ids: [RecordID]) {
    for entity in ["Kept", "Lost"] {
      let expected = existing(replica, entity, ids)
      #expect(replica.recordIDs(of: entity) == expected)
      #expect(replica.recordCount(of: entity) == expected.count)
      for limit in [0, 1, 3] {
        #expect(
          replica.recordIDs(of: entity, limit: limit)
            == Array(expected.prefix(limit)))
        #expect(
          Self.first(limit, of: entity, in: ReplicaView(replica))
            == Array(expected.prefix(limit)))
        for id in ids {
          let rest = expected.filter { RecordID(entity, id.key) < $0 }
          #expect(
            replica.recordIDs(of: entity, after: id.key, limit: limit)
              == Array(rest.prefix(limit)))
        }
      }
      let inConflict = expected.filter {
        replica.record($0)?.conflictingValues(of: FieldKey("name", .register))
          .isEmpty == false
      }
      #expect(replica.conflictedFields(of: entity).map(\.record) == inConflict)
      #expect(
        replica.conflictedFields(of: entity).allSatisfy {
          $0.field.name == "name"
        })
    }
    #expect(
      replica.allRecordIDs
        == Set(["Kept", "Lost"].flatMap { existing(replica, $0, ids) }).sorted()
    )
  }

  /// Lists after each record, or after many.
  @Test(arguments: [1, 700])
  func listingSortsRecordsInsertedBetweenOthers(_ step: Int) throws {
    var random = SeededRandom(seed: UInt64(step))
    let replica = replica(1)
    var ids: [RecordID] = []
    for number in 0..<2_800 {
      let key = String(random.next() >> 40, radix: 32) + "-\(number)"
      ids.append(RecordID("Kept", key))
      try replica.save { $0.ensureExists(ids[number]) }
      guard number % step == 0 else { continue }
      let next = ids.filter { ids[0] < $0 }.min()
      #expect(
        replica.recordIDs(of: "Kept", after: ids[0].key, limit: 1)
          == (next.map { [$0] } ?? []))
    }
    #expect(replica.recordIDs(of: "Kept") == ids.sorted())
  }

  /// Random histories of edits, deletions, restorations and merges.
  @Test(arguments: 0..<40 as Range<UInt64>)
  func listingMatchesExistingRecords(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let replicas = [replica(1), replica(2)]
    let ids = ["Kept", "Lost"].flatMap { entity in
      ["c", "a", "d", "b", "ab"].map { RecordID(entity, $0) }
    }
    for _ in 0..<30 {
      let replica = replicas[random.number(below: 2)]
      let id = ids[random.number(below: ids.count)]
      switch random.number(below: 10) {
      case 0..<5:
        let value = Value.int(Int64(random.number(below: 3)))
        try replica.save {
          $0.apply(.write(value), to: FieldKey("name", .register), of: id)
        }
      case 5, 6: try replica.save { $0.delete(id) }
      case 7: try replica.save { $0.undelete(id) }
      default:
        replica.merge(replicas[replica === replicas[0] ? 1 : 0])
      }
      replicas.forEach { check($0, ids) }
    }
    // Opening a replica builds the lists again.
    let opened = try ReplicaState(decoding: replicas[0].state.encoded())
    check(
      Replica(
        opening: opened, token: RestoreToken(opened), schema: schema,
        wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(200) }),
      ids)
  }

  @Test func listingOfEntityWithoutRecordsIsEmpty() {
    let replica = replica(1)
    #expect(replica.recordIDs(of: "Kept").isEmpty)
    #expect(replica.recordIDs(of: "Kept", after: "a", limit: 1).isEmpty)
    #expect(replica.recordCount(of: "Kept") == 0)
    #expect(replica.conflictedFields(of: "Kept").isEmpty)
  }
}
