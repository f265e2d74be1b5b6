// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && compiler(>=6.2)
  import RejoinSQL
  import RejoinTesting
  import Testing

  @testable import Rejoin
  @testable import RejoinSync
  import _RejoinVerification

  /// The memory of an exchange, in a separate process.
  @Suite struct SyncMemoryTests {
    private static func replica() -> Replica {
      Replica(
        device: DeviceID(1), schema: [Item.self],
        wallClock: ManualClock().wallClock, makeDeviceID: DeviceID.random)
    }

    /// Returns a request with many small records and many devices.
    static func largeRequest(records: Int, devices: Int) throws -> [UInt8] {
      var request = SyncMessage(.request, scope: "s")
      request.device = DeviceID(1)
      var version = ReplicaVersion()
      for i in 1...devices {
        version.insert(
          DeviceSave(sequence: 1, time: .zero, digest: UInt64(i)),
          of: DeviceID(UInt64(i)))
      }
      request.version = version
      let replica = SyncMemoryTests.replica()
      try replica.save { transaction in
        for i in 0..<records { transaction[Item.self, "\(i)"].title = nil }
      }
      request.part = replica.delta()
      return request.encoded()
    }

    /// Prints the peaks of decoding messages.
    static func reportPeaks() throws {
      try PeakMemory.returnMemory()
      var messages = try [
        largeRequest(records: 9_000, devices: 1),
        largeRequest(records: 1, devices: 9_000),
      ]
      for message in messages {
        // Lengths that the bytes do not have.
        for length in [
          [0xff, 0xff, 0xff, 0x7f], Array(repeating: 0xff, count: 9) + [1],
        ] {
          messages.append(
            Array(message[..<3]) + length.map(UInt8.init) + message[4...])
        }
        messages.append(Array(message.dropLast(message.count / 2)))
      }
      for (i, bytes) in messages.enumerated() {
        // The first time loads code and tables that are needed once.
        let peaks = try (0..<4).map { _ in
          try PeakMemory.of {
            let message = try? SyncMessage(decoding: bytes)
            withExtendedLifetime(message) {}
          }
        }
        let peak = peaks.min() ?? .max
        print("memory", i, bytes.count, peak)
      }
    }

    @Test func decodingTakesBoundedMemory() async throws {
      var lines: [[Int]] = []
      // The system counts pages in batches and can count too many.
      for _ in 1...3 {
        let process = await #expect(
          processExitsWith: .success, observing: [\.standardOutputContent]
        ) { try SyncMemoryTests.reportPeaks() }
        let output = String(
          decoding: try #require(process).standardOutputContent, as: UTF8.self)
        lines = output.split(separator: "\n").map { $0.split(separator: " ") }
          .filter { $0.first == "memory" }.map { $0.compactMap { Int($0) } }
        if lines.allSatisfy({ $0[2] <= 16 * $0[1] + 65_536 }) { break }
      }
      #expect(lines.count == 8)
      for line in lines {
        #expect(line[2] <= 16 * line[1] + 65_536, "message \(line[0])")
      }
    }

    /// Writes 40 parts of a megabyte, which replace each other.
    static func reportGrowth() async throws {
      try PeakMemory.returnMemory()
      let hub = try await Hub(connections: 1) {
        try SQLiteConnection(opening: ":memory:")
      }
      let session = hub.makeSession { _ in }
      let replica = SyncMemoryTests.replica()
      var start = 0
      for i in 0..<40 {
        try replica.save {
          $0[Item.self, "1"].title = String(
            repeating: "\(i % 10)", count: 1 << 20)
        }
        let delta = try #require(replica.delta())
        try await session.apply(delta, in: "s")
        if i == 10 { start = try PeakMemory.current() }
      }
      print("growth", try PeakMemory.current() - start)
    }

    @Test func hubKeepsNothingOfWrites() async throws {
      let process = await #expect(
        processExitsWith: .success, observing: [\.standardOutputContent]
      ) { try await SyncMemoryTests.reportGrowth() }
      let output = String(
        decoding: try #require(process).standardOutputContent, as: UTF8.self)
      let line = output.split(separator: "\n").first { $0.hasPrefix("growth") }
      let growth = try #require(Int((line ?? "").dropFirst(7)))
      #expect(
        growth < 10 << 20, "29 writes of a megabyte leave \(growth) bytes")
    }
  }
#endif
