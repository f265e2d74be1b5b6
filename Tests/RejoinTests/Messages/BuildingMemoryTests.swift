// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && compiler(>=6.2)
  @testable import Rejoin
  import Testing
  import _RejoinVerification

  /// The memory that building values from a message takes, in a separate
  /// process.
  ///
  /// A record, field or element takes only one to three bytes in a message,
  /// because keys share prefixes, and records share saves and fields.
  /// Therefore, a multiple of the bytes cannot bound the memory. The bound is
  /// that of reading, plus an amount for each record, field and element.
  @Suite struct BuildingMemoryTests {
    /// The parts that fill a message.
    private enum Content: String, CaseIterable {
      case records, fields, elements, entries

      static let fieldsPerRecord = 16
      private static let keys = (0..<fieldsPerRecord)
        .map { FieldKey("f\($0)", .register) }
      private static let tags = FieldKey("tags", .set)
      private static let log = FieldKey("log", .ledger)
      static let schema = Schema([
        "Item": .init(fields: Set(keys + [tags, log]))
      ])

      /// Returns a replica with `count` items in as few bytes as possible.
      func replica(_ count: Int) throws -> Replica {
        let replica = Replica(
          device: DeviceID(1), schema: Self.schema,
          wallClock: WallClock { 1_000 }, makeDeviceID: { DeviceID(9) })
        try replica.save { transaction in
          switch self {
          case .records:
            for id in Self.ids(count) { transaction.ensureExists(id) }
          case .fields:
            for id in Self.ids(count / Self.fieldsPerRecord) {
              for key in Self.keys {
                transaction.apply(.write(.null), to: key, of: id)
              }
            }
          case .elements:
            let elements = (0..<count).map { Value.int(Int64($0)) }
            transaction.apply(
              .members(SetEdit(inserting: elements)), to: Self.tags,
              of: Self.ids(1)[0])
          case .entries:
            var edit = LedgerEdit()
            for _ in 0..<count { edit.append(1, memo: nil) }
            transaction.apply(
              .append(edit), to: Self.log, of: Self.ids(1)[0])
          }
        }
        return replica
      }

      private static func ids(_ count: Int) -> [RecordID] {
        (0..<count).map { RecordID("Item", String(1 << 24 + $0, radix: 32)) }
      }
    }

    /// The values that are built.
    private enum Building: String, CaseIterable {
      case storedReplica, changes, report

      /// The maximum bytes for each item, from the article on the wire format.
      func bytes(_ content: Content) -> Int {
        switch (self, content) {
        case (.storedReplica, .records): 448
        case (.storedReplica, .fields): 128
        case (.changes, .records): 448
        case (.changes, .fields): 384
        case (.report, .records): 704
        case (.report, .fields): 512
        case (.report, .elements): 192
        case (_, .elements): 96
        case (_, .entries): 0
        }
      }

      func message(_ content: Content, _ count: Int) throws -> [UInt8] {
        let replica = try content.replica(count)
        return self == .storedReplica
          ? replica.state.encoded() : replica.delta()?.encoded() ?? []
      }

      /// Returns the peak memory of building.
      func peak(_ bytes: [UInt8]) throws -> Int {
        switch self {
        case .storedReplica:
          return try PeakMemory.of {
            let stored = try ReplicaState(decoding: bytes)
            withExtendedLifetime(stored) {}
          }
        case .changes:
          let delta = try Delta(decoding: bytes)
          return try PeakMemory.of {
            let changes = delta.changes
            withExtendedLifetime(changes) {}
          }
        case .report:
          let delta = try Delta(decoding: bytes)
          let replica = Replica(
            device: DeviceID(2), schema: Content.schema,
            wallClock: WallClock { 1_000 }, makeDeviceID: { DeviceID(9) })
          return try PeakMemory.of {
            let report = replica.apply(delta)
            withExtendedLifetime(report) {}
          }
        }
      }
    }

    private static func report() throws {
      try PeakMemory.returnMemory()
      // Load code and tables that are needed once.
      for building in Building.allCases {
        for content in Content.allCases {
          _ = try building.peak(building.message(content, 100))
        }
      }
      // Arrays and tables double in size. The first count is just above a size
      // of an array, and the second is just above a size of a table.
      for count in [66_000, 99_000] {
        for building in Building.allCases {
          for content in Content.allCases {
            let bytes = try building.message(content, count)
            let peak = try building.peak(bytes)
            print("memory", building, content, count, bytes.count, peak)
          }
        }
      }
    }

    /// The memory that building one value took in one process.
    private struct Reading {
      let building: Building
      let content: Content
      let count: Int
      let bytes: Int
      let peak: Int

      init(_ words: [Substring]) throws {
        building = try #require(Building(rawValue: String(words[1])))
        content = try #require(Content(rawValue: String(words[2])))
        let numbers = words[3...].compactMap { Int($0) }
        try #require(numbers.count == 3)
        (count, bytes, peak) = (numbers[0], numbers[1], numbers[2])
      }

      var isWithinBounds: Bool {
        peak <= 16 * bytes + 65_536 + building.bytes(content) * count
      }
    }

    private func readings() async throws -> [Reading] {
      let process = await #expect(
        processExitsWith: .success, observing: [\.standardOutputContent]
      ) { try BuildingMemoryTests.report() }
      let output = String(
        decoding: try #require(process).standardOutputContent, as: UTF8.self)
      return try output.split(separator: "\n").map { $0.split(separator: " ") }
        .filter { $0.first == "memory" }.map(Reading.init)
    }

    @Test func buildingTakesBoundedMemoryForEachItem() async throws {
      var readings = try await readings()
      // The system counts pages in batches and can count too many.
      for _ in 1...2 where !readings.allSatisfy(\.isWithinBounds) {
        readings = try await self.readings()
      }
      #expect(
        readings.count
          == 2 * Building.allCases.count * Content.allCases.count)
      for reading in readings {
        print(
          "\(reading.building) of \(reading.count) \(reading.content): "
            + "\(reading.bytes) bytes take \(reading.peak), "
            + "\(reading.peak / reading.count) each")
        #expect(
          reading.isWithinBounds, "\(reading.building) \(reading.content)")
      }
    }
  }
#endif
