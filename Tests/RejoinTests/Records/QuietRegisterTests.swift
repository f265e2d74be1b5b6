// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

@testable import Rejoin
import Testing

/// A version of an app that declares a quiet register.
private struct Quiet: Entity {
  static let entityName = "Item"
  let position = lww("position", of: Int.self)
}

/// A version that declares the same field as a plain register.
private struct Plain: Entity {
  static let entityName = "Item"
  let position = register("position", of: Int.self)
}

@Suite(.encodes) struct QuietRegisterTests {
  private let id = RecordID("Item", "1")
  private let key = FieldKey("position", .register)

  private func replica(_ device: UInt64, _ schema: Schema) -> Replica {
    Replica(
      device: DeviceID(device), schema: schema,
      wallClock: ManualClock(Int64(device) * 1_000).wallClock,
      makeDeviceID: { DeviceID(99) })
  }

  /// Two replicas that wrote the field concurrently and merged.
  private func contested(
    _ schema: Schema
  ) throws -> (replicas: [Replica], reports: [MergeReport]) {
    let (a, b) = (replica(1, schema), replica(2, schema))
    try a.save { $0.apply(.write(.int(1)), to: key, of: id) }
    try b.save { $0.apply(.write(.int(2)), to: key, of: id) }
    return ([a, b], [a.merge(b), b.merge(a)])
  }

  @Test func conflictsAreNeitherListedNorReported() throws {
    let (replicas, reports) = try contested([Quiet.self])
    for (replica, report) in zip(replicas, reports) {
      #expect(replica[Quiet.self, "1"]?.position == 2)
      #expect(replica[Quiet.self, "1"]?.conflictingValues(of: \.position) == [])
      #expect(replica.conflictedFields(of: "Item").isEmpty)
      #expect(report.conflicts.isEmpty)
      #expect(!report.hasFaults)
    }
  }

  @Test func untypedRecordListsAllSiblings() throws {
    let (replicas, _) = try contested([Quiet.self])
    let record = try #require(replicas[0].record(id))
    #expect(
      record.conflictingValues(of: FieldKey("position", .register)) == [.int(1)]
    )
    #expect(
      record.writes(of: FieldKey("position", .register)).map(\.value) == [
        .int(2), .int(1),
      ])
    #expect(record[key].writes.count == 2)
  }

  @Test func declarationDoesNotChangeBytes() throws {
    let quiet = try contested([Quiet.self]).replicas[0]
    let plain = try contested([Plain.self]).replicas[0]
    #expect(quiet.delta() == plain.delta())
    #expect(plain[Plain.self, "1"]?.conflictingValues(of: \.position) == [1])
    #expect(
      plain.conflictedFields(of: "Item") == [.init(record: id, field: key)])
  }

  @Test func laterVersionReadsConflictsOfQuietRegister() throws {
    let quiet = try contested([Quiet.self]).replicas[0]
    let later = Replica(
      opening: quiet.state, token: quiet.restoreToken, schema: [Plain.self],
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(98) })
    #expect(later[Plain.self, "1"]?.conflictingValues(of: \.position) == [1])
  }

  @Test func quietFieldMustBeDeclaredRegister() async {
    await #expect(processExitsWith: .failure) {
      let count = FieldKey("count", .counter)
      _ = Schema(["Item": .init(fields: [count], quietFields: [count])])
    }
    await #expect(processExitsWith: .failure) {
      let name = FieldKey("name", .register)
      _ = Schema(["Item": .init(quietFields: [name])])
    }
  }
}
