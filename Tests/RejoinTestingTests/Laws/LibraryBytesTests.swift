//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin
import RejoinTesting
import Testing

@Suite struct LibraryBytesTests {
  @Test func vectorClock() throws {
    let checks = try checkWire(
      from: VectorClock(), seeds: 0..<300, encode: { $0.encoded() },
      decode: { try VectorClock(decoding: $0) }
    ) { clock, device, random in
      let n = clock[device] + 1 + random.next() >> UInt64(random.below(64))
      clock.insert(Dot(device, max(n, 1)))
      return [device: clock[device]]
    }
    #expect(checks.cases > 300 * 100)
  }

  @Test func replicaClock() throws {
    let clock = HandSetClock()
    let replicas = (1...3).map {
      Replica(
        device: DeviceID($0), schema: Schema(["E": .init()]),
        clock: clock.wall, makeDeviceID: { DeviceID(99) })
    }
    var samples = [ReplicaClock()]
    for (i, replica) in replicas.enumerated() {
      clock.now += 7
      try replica.save {
        $0.apply(
          .write(.int(1)), to: FieldKey("a", .register),
          of: RecordID("E", "\(i)"))
      }
      samples.append(replica.clock)
      replica.merge(replicas[0])
      samples.append(replica.clock)
    }
    let checks = try checkWire(
      samples: samples, encode: { $0.encoded() },
      decode: { try ReplicaClock(decoding: $0) })
    #expect(checks.cases > 1_000)
  }
}
