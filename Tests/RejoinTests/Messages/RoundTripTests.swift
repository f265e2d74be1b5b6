// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
@testable import _RejoinVerification
import Testing

@Suite(.encodes) struct RoundTripTests {
  @Test func deltasRoundTrip() throws {
    for delta in WireCorpus.shared.deltas {
      let bytes = delta.encoded()
      let read = try Delta(decoding: bytes)
      #expect(read == delta)
      #expect(read.encoded() == bytes)
      let made = Delta(
        changes: read.changes, intervals: read.intervals, range: read.range)
      #expect(made.encoded() == bytes)
    }
  }

  @Test func wholeDeltasRoundTrip() throws {
    for replica in WireCorpus.shared.replicas {
      let delta = replica.delta() ?? Delta([])
      let read = try Delta(decoding: delta.encoded())
      #expect(read == delta)
      #expect(read.intervals == replica.current.intervals)
      #expect(read.changes == delta.changes)
    }
  }

  /// A delta of everything does not use the change index.
  @Test func wholeDeltaContainsEveryIndexedField() {
    for replica in WireCorpus.shared.replicas {
      var state = replica.current
      let missing = state.missingChanges(since: ReplicaVersion(), as: .whole)
      let fields = state.missingFields(
        missing, of: state.devices(with: missing))
      let indexed = state.delta(at: fields, of: missing, through: nil)
      #expect(replica.delta() ?? Delta([]) == indexed)
    }
  }

  /// The size of the first records does not predict the size of the others.
  @Test func largeFirstRecordsReserveLittleCapacity() throws {
    let text = FieldKey("text", .register)
    let replica = Replica(
      device: DeviceID(1), schema: Schema(["Item": .init(fields: [text])]),
      wallClock: ManualClock().wallClock
    ) { DeviceID(2) }
    try replica.save { transaction in
      for i in 0..<3_000 {
        let value = String(repeating: "x", count: i < 64 ? 10_000 : 1)
        transaction.apply(
          .write(.string(value)), to: text,
          of: RecordID("Item", "\(i + 10_000)"))
      }
    }
    let bytes = try #require(replica.delta()).encoded()
    #expect(bytes.count > 640_000)
    #expect(bytes.capacity < 4 * bytes.count)
    #expect(try Delta(decoding: bytes).encoded() == bytes)
  }

  @Test func recordsRoundTrip() throws {
    var count = 0
    for delta in WireCorpus.shared.deltas {
      for change in delta.changes {
        let bytes = Delta([change]).encoded()
        #expect(try Delta(decoding: bytes).changes == [change])
        count += 1
      }
    }
    #expect(count > 200)
  }

  /// The record has more fields than a reader reserves in advance.
  @Test func recordOfManyFieldsRoundTrips() throws {
    let replica = Replica.empty(1)
    let id = RecordID("Value", "all")
    for step in [1, 7] {
      try replica.save { transaction in
        for i in stride(from: 0, to: 1_500, by: step) {
          transaction.apply(
            .write(.int(Int64(i))), to: FieldKey("f\(i)", .register), of: id)
        }
      }
      let delta = try #require(replica.delta())
      #expect(delta.fieldCount > 1_024)
      let read = try Delta(decoding: delta.encoded())
      #expect(read.changes == delta.changes)
      let made = Delta(
        changes: read.changes, intervals: read.intervals, range: read.range)
      #expect(made.encoded() == delta.encoded())
    }
  }

  @Test func equalReplicasHaveEqualBytes() throws {
    for seed in 0..<20 as Range<UInt64> {
      let replicas = WireCorpus.orderly(seed: seed).replicas
      settle(replicas)
      let bytes = Set(replicas.map { $0.foldedBytes })
      #expect(bytes.count == 1)
      for replica in replicas { replica.foldLedgers() }
      #expect(
        Set(replicas.map { $0.foldedBytes }) == bytes)
    }
  }

  @Test func decodedDeltaMergesLikeSender() throws {
    for seed in 30..<50 as Range<UInt64> {
      let replicas = WireCorpus.orderly(seed: seed).replicas
      for (i, sender) in replicas.enumerated() {
        let sent = try #require(sender.delta()).encoded()
        let (a, b) = (blank(), blank())
        let reports = (a.apply(try Delta(decoding: sent)), b.merge(sender))
        a.recordVersion(sender.version, of: sender.device)
        #expect(a.version == b.version)
        #expect(a.delta() == b.delta())
        #expect(a.delta()?.encoded() == sent)
        #expect(reports.0.changedRecords == reports.1.changedRecords)
        let receiver = replicas[(i + 1) % replicas.count]
        guard let delta = sender.delta(since: receiver.version) else {
          continue
        }
        receiver.apply(try Delta(decoding: delta.encoded()))
        #expect(
          sender.version.vectorClock.isContained(
            in: receiver.version.vectorClock))
      }
    }
  }

  private func blank() -> Replica {
    Replica(
      device: DeviceID(high: 9, low: 9), schema: ScriptUniverse.standard.schema,
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(99) })
  }

  @Test func versionsRoundTrip() throws {
    for replica in WireCorpus.shared.replicas {
      let version = replica.version
      #expect(try ReplicaVersion(decoding: version.encoded()) == version)
      let vector = version.vectorClock
      #expect(try VectorClock(decoding: vector.encoded()) == vector)
    }
    let empty = ReplicaVersion()
    #expect(try ReplicaVersion(decoding: empty.encoded()) == empty)
    let huge: VectorClock = [DeviceID(1): .max, DeviceID(2): 1]
    #expect(try VectorClock(decoding: huge.encoded()) == huge)
    let bare = ReplicaVersion(huge)
    #expect(try ReplicaVersion(decoding: bare.encoded()) == bare)
  }

  @Test func forkedDevicesRoundTrip() throws {
    var intervals: [DeviceID: Delta.Interval] = [:]
    for number in 1...4 as ClosedRange<UInt64> {
      let save = DeviceSave(
        sequence: 1, time: .zero, digest: number, isForked: number != 2)
      intervals[DeviceID(number)] = .init(from: 0, to: save)
    }
    let delta = Delta(changes: [], intervals: intervals)
    #expect(try Delta(decoding: delta.encoded()).intervals == intervals)
  }

  @Test func recordTouchedAfterEditKeepsBothSaves() throws {
    let replica = Replica.empty(1)
    try replica.edit {
      $0.name = "Ada"
      $0.mentor = Reference("eve")
    }
    try replica.edit { $0.ensureExists() }
    let change = try #require(replica.change(of: Sailor.ada))
    #expect(
      try Delta(decoding: Delta([change]).encoded()).changes == [change])
  }

  @Test func writeLaterThanItsSaveKeepsTime() throws {
    let dot = Dot(DeviceID(1), 1)
    let changes = ([5, 7] as [UInt64]).map { time in
      let write = Stamped(.int(1), at: Timestamp(rawValue: time))
      return Delta.Change(
        id: RecordID("Item", "\(time)"),
        fields: [
          FieldKey("a", .register): FieldState(
            Causal(
              store: Siblings(write, at: dot),
              context: CausalContext([dot.device: 1])))
        ])
    }
    let delta = try Delta(decoding: Delta(changes).encoded())
    #expect(delta.changes == changes)
  }
}

/// Merges the replicas with each other until all have the same saves.
private func settle(_ replicas: [Replica]) {
  for _ in replicas {
    for one in replicas {
      for other in replicas where one !== other { one.merge(other) }
    }
  }
}
