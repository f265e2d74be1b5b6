//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

@testable import Rejoin
@testable import RejoinTesting
import Testing

/// How many bytes messages take: `swift test --filter WireSizeTests` prints them.
///
/// Names and values are as in other libraries' benchmarks: keys such as `r00000`,
/// fields such as `f0`, values of twelve characters; devices are random and clocks
/// tell the time of 2026.
@Suite struct WireSizeTests {
  private let clock = HandSetClock(1_770_000_000_000)
  private let fields = (0..<10).map { FieldKey("f\($0)", .register) }

  private func replica(_ device: UInt64) -> Replica {
    var random = SeededRandom(seed: device)
    return Replica(
      device: .random(using: &random), schema: [], clock: clock.wall)
  }

  private func id(_ i: Int) -> RecordID {
    let digits = String(i)
    return RecordID(
      "E", "r" + String(repeating: "0", count: 5 - digits.count) + digits)
  }

  private func write(
    _ value: Int, _ i: Int, _ field: Int, in replica: Replica
  ) throws {
    clock.now += 3
    let digits = String(value)
    let text =
      "value" + String(repeating: "0", count: 7 - digits.count) + digits
    try replica.save {
      $0.apply(.write(.string(text)), to: fields[field], of: id(i))
    }
  }

  private func filled(_ records: Int) throws -> Replica {
    let replica = replica(1)
    for i in 0..<records {
      for field in fields.indices {
        try write(i * 10 + field, i, field, in: replica)
      }
    }
    return replica
  }

  private func print(_ what: String, _ delta: [UInt8], _ old: [UInt8]) {
    Swift.print(
      "\(what): \(delta.count) bytes, without digests \(old.count)")
  }

  private func print(_ what: String, _ delta: Delta) {
    print(what, delta.encoded(), delta.encoded(version: .v1_0))
  }

  @Test func aWriteIsFlatInTheSizeOfTheState() throws {
    var sizes: Set<Int> = []
    for records in [10, 100, 1_000] {
      let replica = try filled(records)
      // So that the number of the save takes as many bytes in all of them.
      while replica.clock[replica.device].n < 10_000 {
        try write(0, 0, 0, in: replica)
      }
      let before = replica.clock
      try write(1, records - 1, 3, in: replica)
      let delta = try #require(replica.delta(since: before))
      sizes.insert(delta.encoded().count)
      print("one write on \(records * 10) fields", delta)
    }
    #expect(sizes.count == 1)
    #expect(try #require(sizes.max()) <= 69)
  }

  @Test func aWriteIsFlatInTheNumberOfDevices() throws {
    var sizes: [Int] = []
    for count in [2, 1_000] {
      let replica = replica(1)
      for device in 2..<(UInt64(count) + 2) {
        let other = self.replica(device)
        try write(Int(device), Int(device), 0, in: other)
        if device == 2 { try write(7, 0, 3, in: other) }
        replica.merge(other)
      }
      let before = replica.clock
      try write(1, 0, 3, in: replica)
      let delta = try #require(replica.delta(since: before))
      sizes.append(delta.encoded().count)
      print("one write of two, \(count) devices", delta)
    }
    #expect(Double(sizes[1]) <= 1.05 * Double(sizes[0]))
  }

  @Test func aThousandChangedFields() throws {
    let replica = try filled(1_000)
    let before = replica.clock
    for i in 0..<1_000 { try write(i, i, i % 10, in: replica) }
    let delta = try #require(replica.delta(since: before))
    #expect(delta.fieldCount == 2_000)
    print("1,000 changed fields, each in its record", delta)
    #expect(delta.encoded().count <= 20_500)
    let next = replica.clock
    for i in 0..<1_000 { try write(i, i / 10, i % 10, in: replica) }
    print(
      "1,000 changed fields of 100 records",
      try #require(replica.delta(since: next)))
  }

  @Test func aSnapshotDoesNotGrowWithHistory() throws {
    let replica = try filled(1_000)
    let size = replica.encoded().count
    print(
      "snapshot of 10,000 fields", replica.encoded(),
      replica.encoded(version: .v1_0))
    #expect(size * 10 <= 1_500_000)
    for i in 0..<3_000 {
      for field in fields.indices where i % 3 != 1 {
        try write(i * 10 + field, i / 3, field, in: replica)
      }
    }
    #expect(Double(replica.encoded().count) <= 1.1 * Double(size))
  }

  @Test func manyClientsSetOneKey() throws {
    let times = (1...1_540).map {
      Timestamp(milliseconds: clock.now + Int64($0) * 7)
    }
    let dots = (1...1_540).map { Dot(DeviceID($0), 1) }
    func field(_ value: (Int) -> Value) -> FieldState {
      let writes = dots.indices.map { i in
        Siblings<Stamped>.Element(
          dot: dots[i], payload: Stamped(value(i), at: times[i]))
      }
      let clock = VectorClock(
        sorted: dots.map { .init(device: $0.device, count: 1) })
      return .register(
        Causal(store: Siblings(sorted: writes), context: CausalContext(clock)))
    }
    var intervals: [DeviceID: Delta.Interval] = [:]
    for (dot, time) in zip(dots, times) {
      intervals[dot.device] = .init(
        from: 0, to: .init(n: 1, time: time, digest: dot.device.low << 50))
    }
    let all = Delta(
      changes: [
        .init(
          id: RecordID("E", "map"),
          fields: [
            .existence: field { _ in .bool(true) },
            FieldKey("v", .register): field { .int(Int64($0)) },
          ])
      ], intervals: intervals)
    let replica = Replica(device: DeviceID(0), schema: [], clock: clock.wall)
    replica.apply(all)
    print(
      "1,540 clients set one key", replica.encoded(),
      replica.encoded(version: .v1_0))
    #expect(replica.encoded(version: .v1_0).count <= 18_000)
  }
}
