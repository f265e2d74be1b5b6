// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing
import _RejoinVerification

@testable import RejoinStore

/// A reader, while another process saves pairs of records and is killed.
///
/// `REJOIN_TIER=nightly swift test --filter ReaderProcessTests` kills 500 processes.
@Suite final class ReaderProcessTests: StoreSuite {
  private struct Note: Entity {
    let saves = counter("saves")
    let tags = set("tags", of: String.self)
    let title = register("title", of: String.self)
  }

  /// The number of saves that the process acknowledged so far.
  private final class Acknowledged: Sendable {
    private let last = Locked(0)
    var number: Int { last.withLock { $0 } }

    /// Reads the complete lines of the process.
    func add(_ text: String) {
      let numbers = text.split(separator: "\n").compactMap { line in
        line.hasPrefix("saved ") ? Int(line.dropFirst(6)) : nil
      }
      last.withLock { $0 = max($0, numbers.max() ?? 0) }
    }
  }

  private struct Pair: Equatable, Sendable {
    let saves: [Int64]
    let titles: [String?]
    let hasEven: Bool
    let count: Int
    let listed: [String]

    init?(in view: some ReadableReplica) {
      guard let large = view[Note.self, "large"],
        let small = view[Note.self, "small"]
      else { return nil }
      saves = [large.saves, small.saves]
      titles = [large.title, small.title]
      hasEven = view.exists(RecordID("Note", "even"))
      count = view.recordCount(of: Note.self)
      listed = view.records(of: Note.self).map(\.id)
    }
  }

  private func expectPair(_ pair: Pair, after acknowledged: Int) {
    let n = pair.saves[0]
    #expect(pair.saves[1] == n && pair.titles == ["\(n)", "\(n)"], "\(pair)")
    #expect(Int(n) >= acknowledged, "\(pair) lacks save \(acknowledged)")
    #expect(pair.hasEven == (n % 2 == 1), "\(pair)")
    let listed = (pair.hasEven ? ["even"] : []) + ["large", "small"]
    #expect(pair.listed == listed && pair.count == listed.count, "\(pair)")
  }

  /// Reads on this thread: a suspended test would wait for all others.
  private func readPair() throws -> Pair? {
    do {
      return try StoreReader.read(
        Array("main".utf8), of: DurableFile(path: path), [Note.self]
      ) {
        Pair(in: $0)
      }
    } catch StoreError.notCreated { return nil }
  }

  @Test func snapshotHasWholeSaves() async throws {
    let writer = try #require(KillTests.writer)
    var random = SeededRandom(seed: 3)
    let acknowledged = Acknowledged()
    var (snapshots, last) = (0, 0 as Int64)
    for i in 0..<(Tier.isNightly ? 500 : 20) {
      let (process, output) = (Process(), Pipe())
      process.executableURL = writer
      process.arguments = [path, "\(i)", "--pairs"]
      process.standardOutput = output
      process.environment = ["SWIFT_BACKTRACE": "enable=no"]
      output.fileHandleForReading.readabilityHandler = { handle in
        acknowledged.add(String(decoding: handle.availableData, as: UTF8.self))
      }
      try process.run()
      let end = ContinuousClock.now + .milliseconds(random.next() % 300)
      repeat {
        let before = acknowledged.number
        guard let pair = try readPair() else {
          #expect(before == 0)
          continue
        }
        expectPair(pair, after: before)
        #expect(pair.saves[0] >= last)
        last = pair.saves[0]
        snapshots += 1
      } while ContinuousClock.now < end
      _ = kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      output.fileHandleForReading.readabilityHandler = nil
    }
    // The reader shows what the store then opens.
    let reader = try await StoreReader(at: path, schema: [Note.self])
    let pair = try #require(try await reader.read { Pair(in: $0) })
    expectPair(pair, after: acknowledged.number)
    let store = try await ReplicaStore(at: path, schema: [Note.self])
    #expect(await store.read { Pair(in: $0) } == pair)
    print("snapshots beside a writer: \(snapshots), \(last) saves")
    #expect(snapshots > 20 && last > 20)
  }
}
