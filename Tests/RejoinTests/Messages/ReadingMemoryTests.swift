// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && compiler(>=6.2)
  @testable import Rejoin
  import Testing
  import _RejoinVerification

  /// The memory that reading takes in a separate process: at most 16 times the
  /// bytes plus 64 KiB, for any bytes.
  @Suite struct ReadingMemoryTests {
    /// Returns whether the bytes are a message, which stays in memory.
    private static func read(_ bytes: [UInt8]) -> Bool {
      let message = try? ValidatedMessage(bytes, as: [.delta, .stored])
      return withExtendedLifetime(message) { message != nil }
    }

    private static func report() throws {
      try PeakMemory.returnMemory()
      for message in LargeMessage.allCases {
        // Load code and tables that are needed once.
        _ = read(message.bytes(1 << 12))
        for size in Tier.isNightly ? [1 << 20, 1 << 22] : [1 << 18] {
          let bytes = message.bytes(size)
          var isRead = false
          let peak = try PeakMemory.of { isRead = read(bytes) }
          print(
            "memory", message, isRead ? "read" : "refused", bytes.count, peak)
        }
      }
    }

    /// The peak memory of reading one message in one process.
    private struct Reading {
      let message: String
      let isRefused: Bool
      let bytes: Int
      let peak: Int

      init(_ words: [Substring]) throws {
        (message, isRefused) = (String(words[1]), words[2] == "refused")
        (bytes, peak) = (
          try #require(Int(words[3])), try #require(Int(words[4]))
        )
      }

      var isWithinBounds: Bool { peak <= 16 * bytes + 65_536 }
    }

    private func readings() async throws -> [Reading] {
      let process = await #expect(
        processExitsWith: .success, observing: [\.standardOutputContent]
      ) { try ReadingMemoryTests.report() }
      let output = String(
        decoding: try #require(process).standardOutputContent, as: UTF8.self)
      return try output.split(separator: "\n").map { $0.split(separator: " ") }
        .filter { $0.first == "memory" }.map(Reading.init)
    }

    @Test func readingMemoryIsAtMostSixteenTimesBytes() async throws {
      var readings = try await readings()
      // The system counts pages in batches and can count too many.
      for _ in 1...2 where !readings.allSatisfy(\.isWithinBounds) {
        readings = try await self.readings()
      }
      #expect(
        Set(readings.map(\.message)).count == LargeMessage.allCases.count)
      for reading in readings {
        let (bytes, peak) = (reading.bytes, reading.peak)
        let factor = (Double(peak) / Double(bytes) * 10).rounded() / 10
        print(
          "\(reading.message): \(bytes) bytes take \(peak), \(factor) times")
        #expect(reading.isWithinBounds, "\(reading.message)")
        let isRefused = ["devices", "saves", "fields"]
          .contains(reading.message)
        #expect(reading.isRefused == isRefused, "\(reading.message)")
      }
    }
  }
#endif
