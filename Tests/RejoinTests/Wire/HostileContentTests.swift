// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

/// Content that no writer writes, in well-formed bytes.
@Suite(.encodes) struct HostileContentTests {
  private let stranger = DeviceID(77)

  private func delta(
    _ state: FieldState, of key: FieldKey,
    in id: RecordID = RecordID("Value", "k")
  ) throws -> Delta {
    let delta = Delta([Delta.Change(id: id, fields: [key: state])])
    return try Delta(decoding: delta.encoded())
  }

  /// A ledger of which as much is folded as can be, and an entry after that.
  private func fullLedger() throws -> Delta {
    let entry = DeviceEntries.Entry(
      sequence: 3, time: .zero, amount: .min, memo: nil)
    let line = DeviceEntries(
      folded: Limits.foldedEntries, sum: -(1 << 100), cancelled: 0,
      cancelledSum: 0, tail: [entry, entry])
    let field = Causal(
      store: LedgerLines(lines: [stranger: line]),
      context: CausalContext([stranger: 3]))
    return try delta(.ledger(field), of: FieldKey("log", .ledger))
  }

  @Test func aLedgerThatIsFoldedToTheLimitIsStillRead() throws {
    let replica = Replica.empty(1)
    replica.apply(try fullLedger())
    replica.acknowledge(replica.version, by: stranger)
    let total = replica.record(RecordID("Value", "k"))?.total(of: "log")
    #expect(total == .min)
    let folded = replica.encoded(foldingLedgers: true)
    #expect(throws: Never.self) { try Snapshot(decoding: folded) }
    replica.fold()
    #expect(throws: Never.self) { try Snapshot(decoding: replica.encoded()) }
    #expect(replica.record(RecordID("Value", "k"))?.total(of: "log") == total)
  }

  @Test func aLedgerThatIsCancelledAtTheLimitIsStillRead() throws {
    let replica = Replica.empty(1)
    replica.apply(try fullLedger())
    try replica.save {
      $0.apply(
        .append(.cancelling), to: FieldKey("log", .ledger),
        of: RecordID("Value", "k"))
    }
    #expect(throws: Never.self) {
      try StoredReplica(decoding: replica.state.encoded())
    }
  }

  @Test func textsAreWhatTheirBytesAre() throws {
    let (composed, decomposed) = ("\u{e9}", "e\u{301}")
    let marks = [composed, decomposed].map { text in
      (
        key: Value.string(text),
        siblings: Siblings(AddMark(), at: Dot(stranger, 1))
      )
    }
    let set = FieldState.set(
      Causal(store: DotMap(marks), context: CausalContext([stranger: 1])))
    let register = FieldState.register(
      Causal(
        store: Siblings(Stamped(.int(1), at: .zero), at: Dot(stranger, 1)),
        context: CausalContext([stranger: 1])))
    let fields = [
      FieldKey(composed, .set): set, FieldKey(decomposed, .set): set,
      .existence: register,
      FieldKey("a", .register, variant: composed): register,
      FieldKey("a", .register, variant: decomposed): register,
    ]
    let ids = [composed, decomposed].flatMap { entity in
      [composed, decomposed].map { RecordID(entity, $0) }
    }
    let sent = Delta(ids.map { Delta.Change(id: $0, fields: fields) })
    let replica = Replica.empty(1)
    replica.apply(try Delta(decoding: sent.encoded()))
    let read = try StoredReplica(decoding: replica.state.encoded())
    #expect(read.records.count == 4)
    #expect(read.names.count == 5)
    #expect(read.positions.names.count == 2)
    #expect(replica.record(ids[0])?.elements(of: composed).count == 2)
    #expect(replica.delta()?.changes == sent.changes)
  }

  @Test func oddContentOfBuiltInRecordsIsHarmless() throws {
    let dot = Dot(stranger, 1)
    let odd: [Value] = [
      .null, .bool(true), .int(.min), .int(-1), .double(.nan), .string(""),
      .bytes([]), .date(.max), .reference(RecordID("", "")),
    ]
    let marks = odd.map {
      (key: $0, siblings: Siblings(AddMark(), at: dot))
    }
    let set = FieldState.set(
      Causal(
        store: DotMap(marks),
        context: CausalContext([stranger: 1])))
    for value in odd {
      let register = FieldState.register(
        Causal(
          store: Siblings(Stamped(value, at: .max), at: dot),
          context: CausalContext([stranger: 1])))
      let replica = Replica.empty(1)
      let keys = ["", "x", stranger.hexadecimal, DeviceID(0).hexadecimal]
      for entity in [
        BuiltIn.retirement, BuiltIn.roster, BuiltIn.alias, BuiltIn.pulled,
      ] {
        let changes = keys.map {
          Delta.Change(
            id: RecordID(entity, $0),
            fields: [
              .existence: register, BuiltIn.last: register,
              BuiltIn.names: set, BuiltIn.server: register,
              BuiltIn.device: register, BuiltIn.name: register,
            ])
        }
        replica.apply(try Delta(decoding: Delta(changes).encoded()))
      }
      try replica.save { $0.touch(RecordID("Value", "k")) }
      try replica.purge()
      replica.fold()
      try replica.retire(stranger)
      _ = (replica.stabilityCut, replica.retirements, replica.allRecordIDs)
      let bytes = replica.state.encoded()
      #expect(try StoredReplica(decoding: bytes).encoded() == bytes)
    }
  }
}
