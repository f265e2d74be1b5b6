// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

/// Stored replicas whose parts contradict each other.
@Suite(.encodes) struct StoredContentTests {
  private let own = DeviceID(1)

  /// The device section of a replica that needs no new device ID.
  private func device(skew: Int64, flags: UInt8) -> WireWriter {
    var section = WireWriter()
    section.raw(own.bytes)
    section.fixed(0)
    section.signed(skew)
    section.byte(flags)
    return section
  }

  private func fault(
    _ changes: [Delta.Change] = [],
    _ intervals: [DeviceID: Delta.Interval] = [:], skew: Int64 = 0,
    flags: UInt8 = 0,
    sections: (inout WireWriter) -> Void = { _ in }
  ) -> WireError? {
    var message = MessageWriter(
      MessageContent(changes), intervals, as: .stored)
    message.writer.out.section(.device, device(skew: skew, flags: flags))
    sections(&message.writer.out)
    let bytes = message.writer.out.sealed()
    do throws(WireError) {
      let read = try ReplicaState(decoding: bytes)
      #expect(read.encoded() == bytes)
      return nil
    } catch { return error }
  }

  @Test func theMaximumClockSkewIsNotNegative() {
    #expect(fault() == nil)
    #expect(fault(skew: -1)?.code == .invalid)
  }

  @Test func unknownFlagsAreRefused() {
    #expect(fault(flags: 0x80)?.code == .invalid)
  }

  @Test func horizonBelongsToLargeField() {
    let error = fault {
      var horizons = WireWriter()
      horizons.varint(0)
      horizons.clock([own: 1])
      $0.section(.horizons, horizons)
    }
    #expect(error != nil)
  }

  @Test func whoseReplicaItIsMustBeSaid() {
    let bytes = MessageWriter(MessageContent([]), [:], as: .stored).writer.out
      .sealed()
    #expect(throws: WireError.self) { try ReplicaState(decoding: bytes) }
    #expect(throws: WireError.self) { try StoredAssembly(head: bytes) }
  }

  @Test func ownSavesDoNotOutnumberTheVersion() {
    let register = FieldState(
      Causal(
        store: Siblings(Stamped(.int(1), at: .zero), at: Dot(own, 5)),
        context: CausalContext([own: 5])))
    let change = Delta.Change(
      id: RecordID("e", "k"), fields: [FieldKey("f", .register): register])
    #expect(fault([change]) != nil)
  }

  @Test func aRowIsOneRecordThatNoOtherRowHas() throws {
    let replica = Replica.empty(1)
    try replica.save { transaction in
      for key in ["ada", "bob"] { transaction[Sailor.self, key].name = "A" }
    }
    let ada = replica.state.encodedRecord(at: 0)
    let both = MessageWriter(
      MessageContent(try #require(replica.delta()).changes), [:], as: .stored)
    for row in [ada, both.writer.out.sealed()] {
      var assembly = try StoredAssembly(head: replica.state.encodedHead())
      _ = try ada.withUnsafeBytes { try assembly.add(record: $0) }
      let error = #expect(throws: WireError.self) {
        try row.withUnsafeBytes { try assembly.add(record: $0) }
      }
      #expect(error?.code == .invalid && error?.offset == 0)
    }
  }

  @Test func savesForAServerDoNotOutnumberTheVersion() throws {
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
    state.identity.setPullDevice(DeviceID(11), for: Name("crm"))
    #expect(throws: WireError.self) {
      try ReplicaState(decoding: state.encoded())
    }
  }

  @Test func everyServerHasADeviceOfItsOwn() throws {
    for servers in [["crm": 1], ["crm": 2, "erp": 2]] as [[String: UInt64]] {
      var state = Replica.empty(1).state
      for (name, id) in servers {
        state.identity.setPullDevice(DeviceID(id), for: Name(name))
      }
      #expect(throws: WireError.self) {
        try ReplicaState(decoding: state.encoded())
      }
    }
  }

  @Test func ownDigestsAreOfOwnSaves() {
    let error = fault {
      var digests = WireWriter()
      digests.varint(0)
      digests.fixed(7)
      $0.section(.digests, digests)
    }
    #expect(error != nil)
  }
}
