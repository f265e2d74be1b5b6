// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

/// Well-formed bytes with content that a writer does not write.
@Suite(.encodes) struct HostileContentTests {
  private let stranger = DeviceID(77)

  private func delta(
    _ state: FieldState, of key: FieldKey,
    in id: RecordID = RecordID("Value", "k")
  ) throws -> Delta {
    let delta = Delta([Delta.Change(id: id, fields: [key: state])])
    return try Delta(decoding: delta.encoded())
  }

  /// Returns a ledger that is folded to the limit and continues after it.
  private func fullLedger() throws -> Delta {
    let entry = DeviceEntries.Entry(
      sequence: 3, time: .zero, amount: .min, memo: nil)
    let line = DeviceEntries(
      folded: Limits.foldedEntries, sum: -WideInt(high: 1 << 36, low: 0),
      tail: [entry, entry])
    return try ledger(line)
  }

  private func ledger(_ line: DeviceEntries) throws -> Delta {
    let field = Causal(
      store: Ledger(lines: [stranger: line]),
      context: CausalContext([stranger: 3]))
    return try delta(FieldState(field), of: FieldKey("log", .ledger))
  }

  @Test func foldOrCancellationBeyondLimitIsRefused() throws {
    let limit = Limits.foldedEntries
    let line = DeviceEntries(
      folded: limit, sum: 0, cancellation: Cancellation(upTo: limit, sum: 0),
      tail: [])
    let bytes = try ledger(line).encoded()
    var count = WireWriter()
    count.varint(limit)
    let places = bytes.indices.filter {
      bytes[$0...].starts(with: count.bytes)
    }
    #expect(places.count == 2)
    for place in places {
      var more = bytes
      more[place] += 1
      #expect(throws: WireError.self) { try Delta(decoding: more.resealed) }
    }
  }

  @Test func sequenceBeyond64BitsIsRefused() throws {
    let field = FieldState(
      Causal(
        store: Siblings(Stamped(.null, at: .zero), at: Dot(stranger, 1)),
        context: CausalContext([stranger: 102])))
    let bytes = try delta(field, of: FieldKey("f", .register)).encoded()
    var greatest = WireWriter()
    greatest.varint(UInt64.max)
    let errors = bytes.indices.filter { bytes[$0] == 100 }.map { place in
      var changed = bytes
      changed.replaceSubrange(place...place, with: greatest.bytes)
      return #expect(throws: WireError.self) {
        try Delta(decoding: changed.resealed)
      }
    }
    #expect(
      errors.contains { "\($0!)".contains("a sequence number of 64 bits") })
  }

  /// The count alone must not make the reader allocate.
  @Test func countBeyondBytesIsRefused() {
    var message = WireWriter(.vectorClock)
    message.varint(1 << 58)
    let bytes = message.sealed()
    let error = #expect(throws: WireError.self) {
      try VectorClock(decoding: bytes)
    }
    #expect(error?.code == .truncated && error?.offset == 3)
  }

  @Test func counterWithTwoEntriesOfDeviceIsRefused() {
    let entries = [1, 2].map { n in
      PNCounter.Entry(
        device: DeviceID(1), sequence: n, increments: n, decrements: 0)
    }
    let change = RecordChange(
      id: RecordID("Item", "a"),
      fields: [
        FieldKey("n", .counter): FieldState(
          Causal(PNCounter(entries: entries), [DeviceID(1): 2]))
      ])
    let bytes = Delta(changes: [change], intervals: [:]).encoded()
    #expect(throws: WireError.self) { try Delta(decoding: bytes) }
  }

  @Test func ledgerFoldedToLimitIsRead() throws {
    let replica = Replica.empty(1)
    replica.apply(try fullLedger())
    replica.recordVersion(replica.version, of: stranger)
    let total = replica.record(RecordID("Value", "k"))?.total(
      of: FieldKey("log", .ledger))
    #expect(total == .min)
    let folded = replica.foldedBytes
    #expect(throws: Never.self) { try Delta(decoding: folded) }
    replica.foldLedgers()
    let whole = try #require(replica.delta()).encoded()
    #expect(throws: Never.self) { try Delta(decoding: whole) }
    #expect(
      replica.record(RecordID("Value", "k"))?.total(
        of: FieldKey("log", .ledger)) == total)
  }

  @Test func ledgerBeyondLimitIsSentWhole() throws {
    func ledger(through last: UInt64) -> FieldState {
      let tail = (2...last).map { n in
        DeviceEntries.Entry(
          sequence: n, time: .zero, amount: 1, memo: nil)
      }
      let line = DeviceEntries(
        folded: Limits.foldedEntries, sum: 5, tail: tail)
      return FieldState(
        Causal(Ledger(lines: [stranger: line]), [stranger: last]))
    }
    let key = FieldKey("log", .ledger)
    let (a, b) = (Replica.empty(1), Replica.empty(2))
    for (replica, last) in [(a, 50), (b, 50), (a, 51)] as [(Replica, UInt64)] {
      replica.apply(try delta(ledger(through: last), of: key))
    }
    let sent = try #require(a.delta(since: b.version))
    b.apply(try Delta(decoding: sent.encoded()))
    #expect(b.delta() == a.delta())
  }

  @Test func ledgerCanceledAtLimitIsRead() throws {
    let replica = Replica.empty(1)
    replica.apply(try fullLedger())
    try replica.save {
      $0.apply(
        .append(.cancelling), to: FieldKey("log", .ledger),
        of: RecordID("Value", "k"))
    }
    #expect(throws: Never.self) {
      try ReplicaState(decoding: replica.state.encoded())
    }
  }

  @Test func textsDifferByBytes() throws {
    let (composed, decomposed) = ("\u{e9}", "e\u{301}")
    let marks = [composed, decomposed].map { text in
      (
        key: Value.string(text),
        siblings: Siblings(AddMark(), at: Dot(stranger, 1))
      )
    }
    let set = FieldState(
      Causal(store: ORSetStore(marks), context: CausalContext([stranger: 1])))
    let register = FieldState(
      Causal(
        store: Siblings(Stamped(.int(1), at: .zero), at: Dot(stranger, 1)),
        context: CausalContext([stranger: 1])))
    let alive = FieldState(
      Causal(
        store: ExistenceMarks(
          Siblings(
            ExistenceMark.alive(at: .zero), at: Dot(stranger, 1))),
        context: CausalContext([stranger: 1])))
    let fields = [
      FieldKey(composed, .set): set, FieldKey(decomposed, .set): set,
      .existence: alive,
      FieldKey("a", .register, variant: composed): register,
      FieldKey("a", .register, variant: decomposed): register,
    ]
    let ids = [composed, decomposed].flatMap { entity in
      [composed, decomposed].map { RecordID(entity, $0) }
    }
    let sent = Delta(ids.map { Delta.Change(id: $0, fields: fields) })
    let replica = Replica.empty(1)
    replica.apply(try Delta(decoding: sent.encoded()))
    let read = try ReplicaState(decoding: replica.state.encoded())
    #expect(read.records.count == 4)
    #expect(read.names.count == 5)
    #expect(read.positions.names.count == 2)
    #expect(
      replica.record(ids[0])?.elements(of: FieldKey(composed, .set)).count == 2)
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
    let set = FieldState(
      Causal(
        store: ORSetStore(marks),
        context: CausalContext([stranger: 1])))
    let deleted = FieldState(
      Causal(
        store: ExistenceMarks(
          Siblings(
            ExistenceMark.deletion(covering: [stranger: .max], at: .max),
            at: dot)),
        context: CausalContext([stranger: 1])))
    for value in odd {
      let register = FieldState(
        Causal(
          store: Siblings(Stamped(value, at: .max), at: dot),
          context: CausalContext([stranger: 1])))
      let replica = Replica.empty(1)
      let keys = ["", "x", stranger.hexadecimal, DeviceID(0).hexadecimal]
      for entity in [
        BuiltIn.retirement, BuiltIn.roster, BuiltIn.pulled,
      ] {
        let changes = keys.map {
          Delta.Change(
            id: RecordID(entity, $0),
            fields: [
              .existence: deleted, BuiltIn.last: register,
              FieldKey("names", .set): set, BuiltIn.server: register,
              BuiltIn.device: register, BuiltIn.name: register,
            ])
        }
        replica.apply(try Delta(decoding: Delta(changes).encoded()))
      }
      try replica.save { $0.ensureExists(RecordID("Value", "k")) }
      try replica.purgeDeletedRecords()
      replica.foldLedgers()
      try replica.retire(stranger)
      _ = (replica.stabilityCut, replica.retirements, replica.allRecordIDs)
      let bytes = replica.state.encoded()
      #expect(try ReplicaState(decoding: bytes).encoded() == bytes)
    }
  }

  @Test func emptyFieldsHaveOneForm() throws {
    let seen = CausalContext([DeviceID(1): 1])
    let empty = FieldState(Causal(store: Siblings(), context: seen))
    let (a, b) = (FieldKey("a", .register), FieldKey("b", .register))
    func delta(_ fields: [FieldKey: FieldState]) -> [UInt8] {
      Delta([.init(id: RecordID("X", "k"), fields: fields)]).encoded()
    }
    func isRefused(_ bytes: [UInt8]) -> Bool {
      (try? Delta(decoding: bytes.resealed)) == nil
    }
    // Two bytes for the two fields follow the head of the record. The first
    // field takes four bytes: a clock with one device, the first, by one. The
    // last byte repeats that field for the second.
    let bytes = delta([a: empty, b: empty])
    let (layout, end) = (bytes.count - 11, bytes.count - 4)
    try #require(bytes[layout..<end] == [2, 0, 1, 0, 0, 0, 0])
    #expect(
      try Delta(decoding: bytes).changes[0].fields == [a: empty, b: empty])

    var inFull = bytes
    inFull.replaceSubrange((end - 1)..<end, with: [1, 0, 0, 0])
    #expect(isRefused(inFull))
    // No field comes before the first one.
    var first = delta([a: empty])
    let field = first.count - 8
    try #require(first[field..<(field + 4)] == [1, 0, 0, 0])
    first.replaceSubrange(field..<(field + 4), with: [0])
    #expect(isRefused(first))
    // The field before has content.
    var tally = PNCounter()
    _ = tally.add(1, 0, on: DeviceID(1))
    let counter = FieldState(Causal(store: tally, context: seen))
    var full = delta([FieldKey("a", .counter): counter, b: empty])
    full.replaceSubrange((full.count - 8)..<(full.count - 4), with: [0])
    #expect(isRefused(full))
  }

  private func isRefused(_ state: FieldState, of kind: FieldKind) -> Bool {
    let fields = [FieldKey("f", kind): state]
    let delta = Delta([.init(id: RecordID("X", "k"), fields: fields)])
    return (try? Delta(decoding: delta.encoded())) == nil
  }

  @Test(arguments: FieldKind.allCases)
  func fieldWithoutSavesIsRefused(_ kind: FieldKind) {
    #expect(isRefused(FieldState(kind), of: kind))
  }

  @Test func canceledCounterSumBeyondRangeIsRefused() {
    func tally(canceling sum: WideInt) -> FieldState {
      let entry = PNCounter.Entry(
        device: stranger, sequence: 2, increments: 3, decrements: 0)
      let canceled = PNCounter.Canceled(
        device: stranger, decision: Cancellation(upTo: 2, sum: sum))
      return FieldState(
        Causal(
          store: PNCounter(entries: [entry], canceled: [canceled]),
          context: CausalContext([stranger: 2])))
    }
    let greatest = WideInt(UInt64.max)
    for sum in [0, 3, greatest, -greatest] {
      #expect(!isRefused(tally(canceling: sum), of: .counter))
    }
    for sum in [greatest + 1, -greatest - 1, .min] {
      #expect(isRefused(tally(canceling: sum), of: .counter))
    }
  }

  @Test func canceledLedgerSumBeyondRangeIsRefused() {
    func log(canceling sum: WideInt) -> FieldState {
      let line = DeviceEntries(
        folded: 2, sum: 3, cancellation: Cancellation(upTo: 1, sum: sum),
        tail: [])
      return FieldState(
        Causal(
          store: Ledger(lines: [stranger: line]),
          context: CausalContext([stranger: 2])))
    }
    let greatest = WideInt(high: 0, low: 1 << 63)
    for sum in [0, 3, greatest, -greatest] {
      #expect(!isRefused(log(canceling: sum), of: .ledger))
    }
    #if !REJOIN_CHECK_INVARIANTS
      for sum in [greatest + 1, -greatest - 1, .min] {
        #expect(isRefused(log(canceling: sum), of: .ledger))
      }
    #endif
  }

  /// A received decision can have any number of turns.
  @Test(arguments: [FieldKind.counter, .ledger])
  func exhaustedDecisionPreventsUndo(_ kind: FieldKind) throws {
    let id = RecordID("Value", "k")
    let key = FieldKey("n", kind)
    let decision = try #require(
      Cancellation(decided: 2, turns: .max, canceled: 1, sum: 4))
    func state() -> FieldState {
      let clock = CausalContext([stranger: 2])
      if kind == .counter {
        let entry = PNCounter.Entry(
          device: stranger, sequence: 2, increments: 9, decrements: 0)
        let part = PNCounter.Canceled(device: stranger, decision: decision)
        return FieldState(
          Causal(
            store: PNCounter(entries: [entry], canceled: [part]),
            context: clock))
      }
      let line = DeviceEntries(
        folded: 2, sum: 9, cancellation: decision, tail: [])
      return FieldState(
        Causal(store: Ledger(lines: [stranger: line]), context: clock))
    }
    let replica = Replica.empty(1)
    replica.apply(try delta(state(), of: key))
    func shown() -> Int64? {
      replica.record(id).map {
        kind == .counter ? $0.count(of: key) : $0.total(of: key)
      }
    }
    #expect(shown() == 5)
    try replica.save(undoable: "Reset") {
      $0.apply(kind.canceling, to: key, of: id)
    }
    #expect(shown() == 0)
    guard case .prevented(let fields) = try replica.undo() else {
      return #expect(Bool(false))
    }
    #expect(fields.map(\.field) == [key])
    #expect(shown() == 0)
    try replica.save { $0.apply(kind.edit(adding: 1), to: key, of: id) }
    #expect(shown() == 1)
    #expect(throws: Never.self) {
      try ReplicaState(decoding: replica.state.encoded())
    }
  }

  @Test func forkedDeviceWithoutIntervalIsRefused() throws {
    var tally = PNCounter()
    for device in [DeviceID(1), DeviceID(2)] {
      _ = tally.add(1, 0, on: device)
    }
    let counter = FieldState(
      Causal(store: tally, context: CausalContext(tally.dots)))
    let forked = DeviceSave(
      sequence: 1, time: .zero, digest: 5, isForked: true)
    let change = Delta.Change(
      id: RecordID("X", "k"), fields: [FieldKey("c", .counter): counter])
    var bytes = Delta(
      changes: [change], intervals: [DeviceID(1): .init(from: 0, to: forked)]
    ).encoded()
    #expect(throws: Never.self) { try Delta(decoding: bytes) }
    // Flags of an interval are refused without one.
    let head = 3 + 1 + 16
    try #require(bytes[head] == 1 << 3 | 1 | 4)
    bytes[head] = 1 << 3 | 4
    #expect(throws: WireError.self) { try Delta(decoding: bytes.resealed) }
  }

  /// Two records with one counter each, which are written in full.
  private func twoRecords(_ one: String, _ other: String) -> [UInt8] {
    var tally = PNCounter()
    _ = tally.add(1, 0, on: DeviceID(1))
    let counter = FieldState(
      Causal(store: tally, context: CausalContext([DeviceID(1): 1])))
    let fields = [FieldKey("c", .counter): counter]
    return Delta(
      [one, other].map { .init(id: RecordID("X", $0), fields: fields) }
    ).encoded()
  }

  @Test func repeatedFieldListIsRefused() throws {
    var bytes = twoRecords("k", "l")
    // The second record: the last, with the fields of the first.
    let head = bytes.count - 9
    try #require(bytes[head] == 3)
    bytes[head] = 1
    bytes.insert(1, at: head + 1)
    #expect(throws: WireError.self) { try Delta(decoding: bytes.resealed) }
  }

  @Test func repeatedKeyPrefixIsRefused() throws {
    var bytes = twoRecords("ka", "kb")
    // The second key: one byte of the first, and one more.
    let key = bytes.count - 11
    try #require(bytes[key..<(key + 2)] == [1 | 1 << 4, 0x62])
    bytes.replaceSubrange(key..<(key + 2), with: [2 << 4, 0x6b, 0x62])
    #expect(throws: WireError.self) { try Delta(decoding: bytes.resealed) }
  }
}
