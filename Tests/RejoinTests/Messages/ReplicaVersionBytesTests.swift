// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import _RejoinVerification
import Testing

@testable import Rejoin

@Suite(.encodes) struct ReplicaVersionBytesTests {
  @Test func replicaVersionRoundTripsOrIsRefused() throws {
    let clock = ManualClock()
    let replicas = (1...3).map {
      Replica(
        device: DeviceID($0), schema: Schema(["E": .init()]),
        wallClock: clock.wallClock, makeDeviceID: { DeviceID(99) })
    }
    var samples = [ReplicaVersion()]
    for (i, replica) in replicas.enumerated() {
      clock.now += 7
      try replica.save {
        $0.apply(
          .write(.int(1)), to: FieldKey("a", .register),
          of: RecordID("E", "\(i)"))
      }
      samples.append(replica.version)
      replica.merge(replicas[0])
      samples.append(replica.version)
    }
    samples += try unusualVersions()
    for sample in samples {
      #expect(try ReplicaVersion(decoding: sample.encoded()) == sample)
      try checkDamage(of: sample.encoded())
    }
  }

  /// Checks that damaged bytes are refused unless they are canonical.
  private func checkDamage(of bytes: [UInt8]) throws {
    for place in 3..<(bytes.count - 4) {
      for bit in 0..<8 as Range<UInt8> {
        var damaged = bytes
        damaged[place] ^= 1 << bit
        let sealed = damaged.resealed
        guard let read = try? ReplicaVersion(decoding: sealed) else { continue }
        #expect(read.encoded() == sealed)
      }
      #expect(throws: WireError.self) {
        try ReplicaVersion(decoding: Array(bytes[..<place]).resealed)
      }
    }
  }

  /// Returns versions with fields ahead, a forked device and a stability cut.
  private func unusualVersions() throws -> [ReplicaVersion] {
    let schema = Schema(["E": .init()])
    func replica(_ number: UInt64) -> ReplicaUnderTest {
      ReplicaUnderTest(
        device: DeviceID(number), schema: schema,
        makeDeviceID: { DeviceID(number + 9) })
    }
    func save(_ replica: inout ReplicaUnderTest, _ count: Int) throws {
      for i in 0..<count {
        let id = RecordID("E", "\(i)")
        _ = try replica.save([.touch(id)], now: 7)
      }
    }
    var author = replica(1)
    try save(&author, 3)
    let all = try #require(author.message(since: ReplicaVersion()))
    var samples: [ReplicaVersion] = []
    for count in 1...3 {
      var reader = replica(2)
      for part in author.parts(of: all, count: 3).prefix(count) {
        _ = reader.apply(part, now: 7)
      }
      samples.append(reader.version)
      #expect(reader.version.fieldsAhead.count == count)
      _ = reader.apply(all, now: 7)
      try reader.recordVersion(of: author, now: 7)
      try reader.recordVersion(of: author, now: 7)
      #expect(!reader.version.stabilityCut.isEmpty)
      samples.append(reader.version)
      var clone = replica(1)
      try save(&clone, 2)
      try save(&clone, 1)
      let other = try #require(clone.message(since: ReplicaVersion()))
      _ = reader.apply(other, now: 7)
      samples.append(reader.version)
    }
    #expect(samples.last?.forkedDevices == [DeviceID(1)])
    return samples
  }
}
