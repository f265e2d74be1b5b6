// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import RejoinStore

/// Transfers in parts between stores, which are closed in between.
@Suite final class StoredTransferTests: StoreSuite {
  private func store(
    _ name: String, _ device: UInt64, writing writer: TableWriter? = nil
  ) async throws -> ReplicaStore {
    try await ReplicaStore(
      at: folder.file(name), schema: [Note.self], writing: writer,
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(device) })
  }

  @Test func transferContinuesAfterReopening() async throws {
    let phone = try await store("phone.sqlite", 1)
    try await phone.save { transaction in
      for key in ["1", "2", "3"] { transaction[Note.self, key].title = key }
    }
    for number in 1...2 {
      let tablet = try await store("tablet.sqlite", 2)
      let basis = await tablet.version
      #expect(
        basis.prefixes.map(\.through)
          == (number == 1 ? [] : [RecordID("Note", "1")]))
      let part = try #require(
        try await phone.delta(since: basis, byteLimit: 1))
      #expect(try await tablet.apply(part).hasAdvanced)
      try await tablet.close()
    }
    let tablet = try await store("tablet.sqlite", 2)
    while let delta = try await phone.delta(
      since: tablet.version, byteLimit: 256_000)
    {
      guard try await tablet.apply(delta).hasAdvanced else { break }
    }
    #expect(await tablet.version.prefixes.isEmpty)
    let (one, other) = (
      try await phone.export { $0.delta() },
      try await tablet.export { $0.delta() }
    )
    #expect(one == other)
  }

  /// One transaction writes the records and the prefix.
  @Test func uncommittedPartLeavesNoPrefix() async throws {
    let writer = SwitchedWriter()
    let phone = try await store("phone.sqlite", 1)
    try await phone.save { transaction in
      for key in ["1", "2"] { transaction[Note.self, key].title = key }
    }
    let tablet = try await store("tablet.sqlite", 2, writing: writer.write)
    let basis = await tablet.version
    let part = try #require(try await phone.delta(since: basis, byteLimit: 1))
    writer.refuse()
    await #expect(throws: Refused.self) { try await tablet.apply(part) }
    #expect(await tablet.version == basis)
    let again = try await store("tablet.sqlite", 2)
    #expect(await again.version == basis)
    #expect(try await again.apply(part).hasAdvanced)
    #expect(await again.version.prefixes.count == 1)
  }
}
