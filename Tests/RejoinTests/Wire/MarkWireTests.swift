// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
import Testing

/// The marks of a record's existence as bytes.
@Suite(.encodes) struct MarkWireTests {
  private let a = DeviceID(1)
  private let b = DeviceID(2)
  private let c = DeviceID(3)
  private let name = FieldKey("name", .register)

  private func existence(
    _ marks: [(dot: Dot, mark: ExistenceMark)], _ clock: VectorClock? = nil
  ) -> FieldState {
    let store = ExistenceMarks(
      Siblings(sorted: marks.map { .init(dot: $0.dot, payload: $0.mark) }))
    return FieldState(
      Causal(store: store, context: CausalContext(clock ?? store.dots)))
  }

  private func deletion(
    _ dot: Dot, of covered: VectorClock, isPurge: Bool = false
  ) -> (dot: Dot, mark: ExistenceMark) {
    (dot, ExistenceMark(covering: covered, isPurge: isPurge, at: .zero))
  }

  private func register(_ dot: Dot) -> FieldState {
    FieldState(
      Causal(
        store: Siblings(Stamped(1, at: .zero), at: dot),
        context: CausalContext(VectorClock(dot))))
  }

  private func bytes(_ fields: [FieldKey: FieldState]) -> [UInt8] {
    Delta([.init(id: Sailor.ada, fields: fields)]).encoded()
  }

  private func expectReadBack(
    _ fields: [FieldKey: FieldState],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let delta = try Delta(decoding: bytes(fields))
    #expect(delta.changes[0].fields == fields, sourceLocation: sourceLocation)
    let replica = Replica.empty(9)
    replica.apply(delta)
    #expect(
      replica.delta()?.changes[0].fields == fields,
      sourceLocation: sourceLocation)
  }

  @Test func marksAreReadAsWritten() throws {
    let touch = ExistenceMark(covering: nil, at: Timestamp(rawValue: 7))
    try expectReadBack([.existence: existence([(Dot(a, 1), touch)])])
    try expectReadBack([
      .existence: existence([(Dot(a, 1), touch)], [a: 3, b: 1])
    ])
    try expectReadBack([.existence: existence([], [a: 3])])
    try expectReadBack([
      name: register(Dot(a, 1)),
      .existence: existence([
        deletion(Dot(b, 2), of: [a: 1, b: 2]),
        deletion(Dot(c, 4), of: [c: 9], isPurge: true),
      ]),
    ])
  }

  @Test func randomMarksAreReadAsWritten() throws {
    var random = SeededRandom(seed: 33)
    for _ in 0..<2000 {
      var marks = FieldState(.existence)
      for _ in 0...random.below(4) {
        let device = DeviceID(UInt64(random.below(4) + 1))
        _ = RandomEdits.field(&marks, .existence, device, &random)
      }
      try expectReadBack([.existence: marks])
      let dot = Dot(DeviceID(UInt64(random.below(6) + 1)), 5)
      try expectReadBack([name: register(dot), .existence: marks])
    }
  }

  /// Nothing is written of the clock that a deletion covers if it is that of the
  /// record in the message.
  @Test func deletionOfAllTakesNoClock() {
    let all = VectorClock(
      sorted: (1...100).map {
        .init(device: DeviceID($0), count: 7)
      })
    let field = FieldState(
      Causal(store: Siblings(), context: CausalContext(all)))
    func size(_ covered: VectorClock) -> Int {
      bytes([
        name: field, .existence: existence([deletion(Dot(a, 8), of: covered)]),
      ]).count
    }
    let some = VectorClock(sorted: Array(all.entries.dropFirst()))
    #expect(size(some) - size(all.merging([a: 8])) == 2 * 99 + 1)
  }

  /// A fragment is not all of its field, so its clock covers nothing.
  @Test func fragmentDoesNotCountAsSeen() throws {
    let tags = FieldKey("tags", .set)
    let clock: VectorClock = [a: 3]
    let fragment = Fragment(
      state: FieldState(
        Causal(
          DotMap([(.int(1), Siblings(AddMark(), at: Dot(a, 3)))]), clock)),
      basis: [a: 2], continued: [])
    let mark = existence([deletion(Dot(b, 1), of: [a: 3, b: 1])])
    let change = RecordChange(
      id: Sailor.ada, fields: [.existence: mark], fragments: [tags: fragment])
    let delta = Delta(changes: [change], intervals: [:])
    let read = try Delta(decoding: delta.encoded())
    #expect(read.changes == [change])
    #expect(try Delta(decoding: read.encoded()).encoded() == delta.encoded())
  }

  @Test func readerRefusesMarksOfAnotherForm() throws {
    // The last bytes are the number of fields and the flag of the existence, the
    // number of marks, the code of a mark, and the clock that it covers. The clock has
    // the number of devices, the first device and its number.
    let alive = bytes([
      .existence: existence([
        (Dot(a, 1), ExistenceMark(covering: nil, at: .zero))
      ])
    ])
    let deleted = bytes([
      .existence: existence([deletion(Dot(a, 2), of: [a: 1])])
    ])
    let code = alive.count - 5
    try #require(alive[(code - 3)...code] == [1, 16, 2, 0])
    try #require(
      deleted[(deleted.count - 9)..<(deleted.count - 4)] == [2, 4, 1, 0, 1])
    let end = deleted.count - 8
    for (message, place, byte, reason) in [
      (alive, code, 6, "a mark of form 0 to 2"),
      (alive, code, 8, "a mark of form 0 to 2"),
      (alive, code - 1, 0, "a save"),
      (deleted, end + 2, 1, "one of the devices"),
      (deleted, end + 3, 0, "a sequence number above zero"),
      (deleted, end + 3, 2, "form 1 of a deletion of all saves"),
    ] as [([UInt8], Int, UInt8, String)] {
      var changed = message
      changed[place] = byte
      let error = #expect(throws: WireError.self) {
        try Delta(decoding: changed.resealed)
      }
      #expect(error?.expected.contains(reason) == true, "\(error as Any)")
    }
    // Form 1 is of a mark that is alone.
    var two = bytes([
      .existence: existence([
        deletion(Dot(a, 1), of: [a: 1]), deletion(Dot(b, 1), of: [a: 1]),
      ])
    ])
    let first = two.count - 13
    try #require(two[first..<(two.count - 4)] == [4, 4, 1, 0, 1, 4, 1, 0, 1])
    two.replaceSubrange((first + 1)..<(first + 5), with: [2])
    #expect(throws: WireError.self) { try Delta(decoding: two.resealed) }
  }
}
