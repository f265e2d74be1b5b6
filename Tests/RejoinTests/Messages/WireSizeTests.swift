// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
@testable import RejoinTesting
import Testing

/// The sizes of messages, which `swift test --filter WireSizeTests` prints.
///
/// Names and values follow other libraries' benchmarks: keys such as `r00000`,
/// fields such as `f0` and values of twelve characters. Devices are random, and
/// clocks start in 2026.
@Suite(.encodes) struct WireSizeTests {
  private let clock = ManualClock(1_770_000_000_000)
  private let fields = (0..<10).map { FieldKey("f\($0)", .register) }

  private func replica(_ device: UInt64) -> Replica {
    var random = SeededRandom(seed: device)
    return Replica(
      device: .random(using: &random), schema: Schema(["E": .init()]),
      wallClock: clock.wallClock, makeDeviceID: { DeviceID(99) })
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

  /// Prints a size, and the size for each field if there are many.
  private func print(_ what: String, _ bytes: [UInt8], fields: Int = 1) {
    let each = (Double(bytes.count) / Double(fields) * 10).rounded() / 10
    Swift.print(
      "\(what): \(bytes.count) bytes"
        + (fields == 1 ? "" : ", \(each) each"))
  }

  private func print(_ what: String, _ delta: Delta, fields: Int = 1) {
    print(what, delta.encoded(), fields: fields)
  }

  /// Prints the size of a delta of the whole replica, and returns it.
  private func printSize(
    _ what: String, _ replica: Replica, fields: Int
  ) throws -> Int {
    let delta = try #require(replica.delta())
    print(what, delta, fields: fields)
    return delta.encoded().count
  }

  @Test func writeSizeDoesNotGrowWithState() throws {
    var sizes: Set<Int> = []
    for records in [10, 100, 1_000] {
      let replica = try filled(records)
      // All save numbers must take equally many bytes.
      while replica.version[replica.device].sequence < 10_000 {
        try write(0, 0, 0, in: replica)
      }
      let before = replica.version
      try write(1, records - 1, 3, in: replica)
      let delta = try #require(replica.delta(since: before))
      sizes.insert(delta.encoded().count)
      print("delta of one write, in a state of \(records * 10) fields", delta)
    }
    #expect(sizes.count == 1)
    #expect(try #require(sizes.max()) <= 73)
  }

  @Test func writeSizeDoesNotGrowWithDevices() throws {
    var sizes: [Int] = []
    for count in [2, 1_000] {
      let replica = replica(1)
      for device in 2..<(UInt64(count) + 2) {
        let other = self.replica(device)
        try write(Int(device), Int(device), 0, in: other)
        if device == 2 { try write(7, 0, 3, in: other) }
        replica.merge(other)
      }
      let before = replica.version
      try write(1, 0, 3, in: replica)
      let delta = try #require(replica.delta(since: before))
      sizes.append(delta.encoded().count)
      print(
        "delta of one write on a field of two devices, in a state of \(count)",
        delta)
    }
    #expect(Double(sizes[1]) <= 1.05 * Double(sizes[0]))
  }

  @Test func writeSizeDoesNotGrowWithHistory() throws {
    let replica = try filled(10)
    var sizes: Set<Int> = []
    // All save numbers must take equally many bytes.
    for overwritten in [200, 1_000, 10_000] {
      while replica.version[replica.device].sequence < 100 + overwritten {
        try write(7, 3, 3, in: replica)
      }
      let before = replica.version
      try write(1, 3, 3, in: replica)
      let delta = try #require(replica.delta(since: before))
      sizes.insert(delta.encoded().count)
      print(
        "delta of one write on a field overwritten \(overwritten) times", delta)
    }
    #expect(sizes.count == 1)
  }

  @Test func deltaOfThousandFieldsStaysBelowLimit() throws {
    let replica = try filled(1_000)
    let before = replica.version
    for i in 0..<1_000 { try write(i, i, i % 10, in: replica) }
    let delta = try #require(replica.delta(since: before))
    #expect(delta.fieldCount == 1_000)
    print(
      "delta of 1,000 changed fields, each in its record", delta, fields: 1_000)
    #expect(delta.encoded().count <= 20_500)
    let next = replica.version
    for i in 0..<1_000 { try write(i, i / 10, i % 10, in: replica) }
    print(
      "delta of 1,000 changed fields of 100 records",
      try #require(replica.delta(since: next)), fields: 1_000)
  }

  @Test func wholeDeltaSizePerFieldDoesNotGrowWithState() throws {
    var each: [Double] = []
    for records in [10, 100, 1_000] {
      let replica = try filled(records)
      let size = try printSize(
        "\(records) records of 10 fields, 12 characters in each", replica,
        fields: records * 10)
      each.append(Double(size) / Double(records * 10))
    }
    // The value has 13 bytes, its save three, and the field three.
    #expect(each[2] <= 20)
    #expect(each[2] <= each[0])
  }

  @Test func wholeDeltaSizeDoesNotGrowWithHistory() throws {
    let replica = try filled(100)
    let size = try #require(replica.delta()).encoded().count
    for round in 0..<30 {
      for i in 0..<100 {
        for field in fields.indices {
          try write(round * 1_000 + i * 10 + field, i, field, in: replica)
        }
      }
    }
    let after = try printSize(
      "100 records of 10 fields, each overwritten 30 times", replica,
      fields: 1_000)
    #expect(Double(after) <= 1.1 * Double(size))
  }

  @Test func wholeDeltaOfManyClientsStaysBelowLimit() throws {
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
      return FieldState(
        Causal(store: Siblings(sorted: writes), context: CausalContext(clock)))
    }
    var intervals: [DeviceID: Delta.Interval] = [:]
    for (dot, time) in zip(dots, times) {
      intervals[dot.device] = .init(
        from: 0,
        to: .init(sequence: 1, time: time, digest: dot.device.low << 50))
    }
    let all = Delta(
      changes: [
        .init(
          id: RecordID("E", "map"),
          fields: [
            FieldKey("v", .register): field { .int(Int64($0)) }
          ])
      ], intervals: intervals)
    let replica = Replica(
      device: DeviceID(0), schema: [], wallClock: clock.wallClock,
      makeDeviceID: { DeviceID(99) })
    replica.apply(all)
    let size = try printSize(
      "one field that 1,540 clients set", replica, fields: 1_540)
    // A device ID takes 16 bytes, a digest eight, and the save, its interval and
    // the write ten.
    #expect(size <= 1_540 * 34)
  }
}
