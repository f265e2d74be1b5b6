// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

/// Messages that would take a quadratic reader minutes instead of a second.
@Suite(.encodes) struct CostlyMessageTests {
  private let stranger = DeviceID(77)

  private func survive(_ changes: [Delta.Change]) throws -> Replica {
    let bytes = Delta(changes).encoded()
    let replica = Replica.empty(1)
    replica.apply(try Delta(decoding: bytes))
    #expect(replica.delta()?.encoded() == bytes)
    return replica
  }

  private func digits(_ number: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: 6 - text.utf8.count) + text
  }

  @Test func deltaWithManyVariantsOfOneNameRoundTrips() throws {
    let register = FieldState(
      Causal(
        store: Siblings(Stamped(nil, at: .zero), at: Dot(stranger, 1)),
        context: CausalContext([stranger: 1])))
    var fields: [FieldKey: FieldState] = [:]
    for i in 0..<10_000 {
      fields[FieldKey("f", .register, variant: digits(i))] = register
    }
    _ = try survive([Delta.Change(id: RecordID("e", "k"), fields: fields)])
  }

  @Test func deltaWithManySavesOfOneElementRoundTrips() throws {
    let all = (1...40_000).map { n in
      Siblings<AddMark>.Element(
        dot: Dot(stranger, UInt64(n)), payload: AddMark())
    }
    let element = Value.string(String(repeating: "a", count: 200_000))
    let set = FieldState(
      Causal(
        store: ORSetStore([(element, Siblings(sorted: all))]),
        context: CausalContext([stranger: 40_000])))
    _ = try survive([
      Delta.Change(
        id: RecordID("e", "k"), fields: [FieldKey("f", .set): set])
    ])
  }

  /// Many devices edit a record, and many delete it.
  @Test func mergeHandlesManyDeletionsOfManyEdits() throws {
    let devices = (1...4_000).map { DeviceID(UInt64($0)) }
    let field = FieldState(
      Causal(
        store: Siblings(),
        context: CausalContext(
          VectorClock(sorted: devices.map { .init(device: $0, count: 2) }))))
    let marks = devices.map { device in
      Siblings<ExistenceMark>.Element(
        dot: Dot(device, 3),
        payload: ExistenceMark.deletion(covering: [device: 1], at: .zero))
    }
    let store = ExistenceMarks(Siblings(sorted: marks))
    let existence = FieldState(
      Causal(store: store, context: CausalContext(store.dots)))
    let id = RecordID("Sailor", "k")
    let name = FieldKey("name", .register)
    let replica = try survive([
      Delta.Change(id: id, fields: [name: field, .existence: existence])
    ])
    #expect(replica.exists(id))
    let edited = Replica.empty(2)
    edited.apply(Delta([.init(id: id, fields: [name: field])]))
    let report = edited.apply(
      Delta([.init(id: id, fields: [.existence: existence])]))
    #expect(report.deletionConflicts.map(\.deletions.count) == [1])
  }

  /// Each device edits its own field, and two devices delete the record.
  @Test func mergeHandlesFewDeletionsOfManyFields() throws {
    let devices = (1...4_000).map { DeviceID(UInt64($0)) }
    let fields = devices.enumerated().map { i, device in
      (
        FieldKey("f\(i)", .register),
        FieldState(
          Causal(
            store: Siblings(Stamped(nil, at: .zero), at: Dot(device, 1)),
            context: CausalContext([device: 1])))
      )
    }
    let all = VectorClock(sorted: devices.map { .init(device: $0, count: 9) })
    let store = ExistenceMarks(
      Siblings(
        sorted: [stranger, DeviceID(5_000)].map { device in
          let covered = all.merging([device: 20])
          return .init(
            dot: Dot(device, 20),
            payload: ExistenceMark.deletion(covering: covered, at: .zero))
        }))
    let marks = FieldState(
      Causal(store: store, context: CausalContext(store.dots)))
    let id = RecordID("Sailor", "k")
    let edits = Delta([
      .init(id: id, fields: Dictionary(uniqueKeysWithValues: fields))
    ])
    let deletions = Delta([.init(id: id, fields: [.existence: marks])])
    for messages in [[edits, deletions], [deletions, edits]] {
      let replica = Replica.empty(1)
      for message in messages + messages { replica.apply(message) }
      #expect(!replica.exists(id) && replica.delta() != nil)
    }
  }

  /// Many devices edit many records, and one device deletes them.
  @Test func reportOfManyDeletionsIsBounded() throws {
    let clock = VectorClock(
      sorted: (1...1_000).map { .init(device: DeviceID($0), count: 2) })
    let field = FieldState(
      Causal(store: Siblings(), context: CausalContext(clock)))
    let mark = FieldState(
      Causal(
        store: ExistenceMarks(
          Siblings(
            ExistenceMark.deletion(covering: [stranger: 3], at: .zero),
            at: Dot(stranger, 3))), context: CausalContext([stranger: 3])))
    let ids = (0..<300).map { RecordID("Sailor", "\($0)") }
    let name = FieldKey("name", .register)
    let replica = Replica.empty(1)
    replica.apply(Delta(ids.map { .init(id: $0, fields: [name: field]) }))
    let report = replica.apply(
      Delta(ids.map { .init(id: $0, fields: [.existence: mark]) }))
    #expect(report.deletionConflicts.count == 300)
    let edits = report.deletionConflicts.map(\.edits.count).reduce(0, +)
    #expect(edits < 102_000)
  }

  @Test func mergeHandlesManyRetiredDevices() throws {
    let last = FieldState(
      Causal(
        store: Siblings(Stamped(.int(1), at: .zero), at: Dot(stranger, 1)),
        context: CausalContext([stranger: 1])))
    let replica = try survive(
      (1_000..<6_000).map {
        let retired = DeviceID(UInt64($0)).hexadecimal
        return Delta.Change(
          id: RecordID(BuiltIn.retirement, retired),
          fields: [BuiltIn.last: last])
      })
    let other = Replica.empty(2)
    for i in 0..<20 {
      try other.edit { $0.name = "\(i)" }
      other.tell(replica)
    }
    #expect(replica.version[other.device].sequence == 20)
    #expect(replica.retirements.entries.count == 5_000)
  }

  @Test func longNamesOfEntitiesAndFieldsAreRefused() throws {
    #expect(FieldKey.isValid(String(repeating: "n", count: 255), .set, nil))
    #expect(!FieldKey.isValid(String(repeating: "n", count: 256), .set, nil))
    let long = String(repeating: "v", count: 256)
    #expect(!FieldKey.isValid("n", .set, long))
    let set = FieldState(
      Causal(store: ORSetStore(), context: CausalContext([stranger: 1])))
    let change = Delta.Change(
      id: RecordID(long, "k"), fields: [FieldKey("f", .set): set])
    #expect(throws: WireError.self) {
      try Delta(decoding: Delta([change]).encoded())
    }
  }

  @Test func writeSupersedesManyUnseenWritesAtMaximumTime() throws {
    let all = (1...30_000).map { n in
      Siblings<Stamped>.Element(
        dot: Dot(stranger, UInt64(n)), payload: Stamped(.null, at: .max))
    }
    var siblings = Siblings(sorted: all)
    let superseded = siblings.write(
      .int(1), at: Dot(DeviceID(1), 1), time: .zero,
      observed: VectorClock())
    #expect(superseded.count == all.count)
    #expect(siblings.count == 1)
  }
}
