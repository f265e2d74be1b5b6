// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

/// Stored replicas whose parts contradict each other.
@Suite(.encodes) struct StoredContentTests {
  private let own = DeviceID(1)

  /// Returns the device section of a replica that needs no new device ID.
  private func device(skew: UInt64, flags: UInt8) -> WireWriter {
    var section = WireWriter()
    section.device(own)
    section.fixed(0)
    section.varint(skew)
    section.byte(flags)
    return section
  }

  private func fault(
    _ changes: [Delta.Change] = [],
    _ intervals: [DeviceID: Delta.Interval] = [:], skew: UInt64 = 0,
    flags: UInt8 = 0,
    sections: (inout MessageWriter) -> Void = { _ in }
  ) -> WireError? {
    var message = MessageWriter(
      MessageContent(changes), intervals, as: .stored)
    message.section(.device, device(skew: skew, flags: flags))
    sections(&message)
    let bytes = message.sealed().bytes
    do throws(WireError) {
      let read = try ReplicaState(decoding: bytes)
      #expect(read.encoded() == bytes)
      return nil
    } catch { return error }
  }

  @Test func decodingRefusesClockSkewOf64Bits() {
    #expect(fault() == nil)
    #expect(fault(skew: .max)?.code == .invalid)
  }

  @Test func decodingRefusesUnknownFlags() {
    #expect(fault(flags: 0x80)?.code == .invalid)
  }

  @Test func decodingRefusesHorizonWithoutLargeField() {
    let error = fault {
      var horizons = WireWriter()
      horizons.varint(0)
      horizons.clock([own: 1])
      $0.section(.horizons, horizons)
    }
    #expect(error != nil)
  }

  @Test func decodingRefusesStateWithoutDevice() {
    let bytes = MessageWriter(MessageContent([]), [:], as: .stored)
      .sealed().bytes
    #expect(throws: WireError.self) { try ReplicaState(decoding: bytes) }
    #expect(throws: WireError.self) { try StoredAssembly(head: bytes) }
  }

  @Test func decodingRefusesOwnSavesBeyondVersion() {
    let register = FieldState(
      Causal(
        store: Siblings(Stamped(.int(1), at: .zero), at: Dot(own, 5)),
        context: CausalContext([own: 5])))
    let change = Delta.Change(
      id: RecordID("e", "k"), fields: [FieldKey("f", .register): register])
    #expect(fault([change]) != nil)
  }

  @Test func decodingRefusesFragmentsInState() {
    let (other, field) = (DeviceID(2), FieldKey("f", .counter))
    let entry = PNCounter.Entry(
      device: other, sequence: 3, increments: 1, decrements: 0)
    let state = FieldState(Causal(PNCounter(entries: [entry]), [other: 3]))
    // A receiver without the field would join it: all of it is new.
    let fragment = Fragment(state: state, basis: [:], continued: [])
    let id = RecordID("e", "k")
    #expect(fault([RecordChange(id: id, fields: [field: state])]) == nil)
    #expect(fault([RecordChange(id: id, fragments: [field: fragment])]) != nil)
  }

  @Test func assemblyRefusesPatchAsRecord() throws {
    let replica = Replica.empty(1)
    replica.fragmentSize = 0
    try replica.edit { $0.tags.insert("a") }
    var state = replica.state
    state.recordWritten(0)
    let changed = Replica.opening(state, token: nil, as: 9)
    try changed.edit { $0.tags.insert("b") }
    let patch = try #require(changed.state.encodedPatch(ofRecordAt: 0))
    var assembly = try StoredAssembly(head: changed.state.encodedHead())
    // With these saves, nothing is missing before the part.
    for entry in changed.version.vectorClock.entries {
      assembly.add(changed.version[entry.device], of: entry.device)
    }
    #expect(throws: WireError.self) {
      try patch.withUnsafeBytes { try assembly.add(record: $0) }
    }
  }

  @Test func assemblyRefusesRepeatedAndMultipleRecords() throws {
    let replica = Replica.empty(1)
    try replica.save { transaction in
      for key in ["ada", "bob"] { transaction[Sailor.self, key].name = "A" }
    }
    let ada = replica.state.encodedRecord(at: 0)
    let both = MessageWriter(
      MessageContent(try #require(replica.delta()).changes), [:], as: .stored)
    for row in [ada, both.sealed().bytes] {
      var assembly = try StoredAssembly(head: replica.state.encodedHead())
      _ = try ada.withUnsafeBytes { try assembly.add(record: $0) }
      let error = #expect(throws: WireError.self) {
        try row.withUnsafeBytes { try assembly.add(record: $0) }
      }
      #expect(error?.code == .invalid && error?.offset == 0)
    }
  }

  @Test func decodingRefusesPullSavesBeyondVersion() throws {
    let (a, b) = (Replica.empty(1) { DeviceID(11) }, Replica.empty(2))
    try a.importRows(from: "crm", modifiedAt: 1) {
      $0[Sailor.self, "ada"].name = "A"
    }
    let before = a.state
    try a.importRows(from: "crm", modifiedAt: 2) {
      $0[Sailor.self, "ada"].name = "B"
    }
    b.apply(try #require(Replica.opening(before, token: nil, as: 9).delta()))
    for part in try #require(a.delta()).split(into: 1) { b.apply(part) }
    #expect(throws: Never.self) {
      try ReplicaState(decoding: b.state.encoded())
    }
    var state = b.state
    state.identity.setPullDevice(DeviceID(11), for: SchemaName("crm"))
    #expect(throws: WireError.self) {
      try ReplicaState(decoding: state.encoded())
    }
  }

  @Test func decodingRefusesSharedPullDevices() throws {
    for servers in [["crm": 1], ["crm": 2, "erp": 2]] as [[String: UInt64]] {
      var state = Replica.empty(1).state
      for (name, id) in servers {
        state.identity.setPullDevice(DeviceID(id), for: SchemaName(name))
      }
      #expect(throws: WireError.self) {
        try ReplicaState(decoding: state.encoded())
      }
    }
  }

  @Test func decodingRefusesDigestsBeyondOwnSaves() {
    let error = fault {
      var digests = WireWriter()
      digests.varint(0)
      digests.fixed(7)
      $0.section(.digests, digests)
    }
    #expect(error != nil)
  }
}
