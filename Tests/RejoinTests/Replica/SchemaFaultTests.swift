// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

@testable import Rejoin
import Testing

/// Records and fields from other versions of an app.
@Suite(.encodes) struct SchemaFaultTests {
  private func replica(
    _ device: UInt64, fields: Set<FieldKey>
  ) -> Replica {
    Replica(
      device: DeviceID(device),
      schema: Schema(["Sailor": .init(fields: fields)]),
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(99) })
  }

  @Test func emptySchemaJoinsAndRelaysUnknownFields() throws {
    let new = (Replica.empty(1), Replica.empty(2))
    let old = Replica(
      device: DeviceID(3), schema: [], wallClock: ManualClock().wallClock,
      makeDeviceID: { DeviceID(99) })
    try new.0.edit { $0.roles.insert("cook") }
    try new.1.edit {
      $0.roles.insert("mate")
      $0.miles.increment()
    }
    new.0.tell(old)
    new.1.tell(old)
    let reader = Replica.empty(4)
    #expect(!old.tell(reader).hasFaults)
    #expect(reader.ada?.roles == ["cook", "mate"])
    #expect(reader.ada?.miles == 1)
    #expect(areEqual(old, reader))
  }

  @Test func mergeReportsChangedKindAndKeepsBothFields() throws {
    let (was, `is`) = (
      FieldKey("miles", .register), FieldKey("miles", .counter)
    )
    let (old, new) = (replica(1, fields: [was]), replica(2, fields: [`is`]))
    try old.save { $0.apply(.write(.int(5)), to: was, of: Sailor.ada) }
    try new.save {
      $0.apply(.count(CounterEdit(by: 7)), to: `is`, of: Sailor.ada)
    }
    let report = old.tell(new)
    #expect(
      report.kindMismatches == [.init(record: Sailor.ada, field: was)])
    #expect(new.record(Sailor.ada)?.count(of: FieldKey("miles", .counter)) == 7)
    #expect(
      new.record(Sailor.ada)?.value(of: FieldKey("miles", .register)) == .int(5)
    )
    #expect(new.schema["Sailor"].field(named: "miles") == `is`)
    new.tell(old)
    #expect(areEqual(old, new))
  }

  @Test func mergeDoesNotReportUndeclaredFieldAsKindMismatch() throws {
    let other = FieldKey("other", .register)
    let (a, b) = (
      replica(1, fields: []),
      replica(2, fields: [FieldKey("miles", .counter)])
    )
    try a.save { $0.apply(.write(.int(5)), to: other, of: Sailor.ada) }
    #expect(a.tell(b).kindMismatches.isEmpty)
  }
}
