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
    _ dot: Dot, of covered: VectorClock, isFinal: Bool = false
  ) -> (dot: Dot, mark: ExistenceMark) {
    (dot, .deletion(covering: covered, isFinal: isFinal, at: .zero))
  }

  private func purge(
    _ dot: Dot, seen: VectorClock
  ) -> (dot: Dot, mark: ExistenceMark) {
    (dot, .purge(by: dot, seen: seen, at: .zero))
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
    let touch = ExistenceMark.alive(at: Timestamp(rawValue: 7))
    try expectReadBack([.existence: existence([(Dot(a, 1), touch)])])
    try expectReadBack([
      .existence: existence([(Dot(a, 1), touch)], [a: 3, b: 1])
    ])
    try expectReadBack([.existence: existence([], [a: 3])])
    try expectReadBack([
      name: register(Dot(a, 1)),
      .existence: existence([
        deletion(Dot(b, 2), of: [a: 1, b: 2]),
        deletion(Dot(c, 4), of: [c: 9], isFinal: true),
      ]),
    ])
    try expectReadBack([
      .existence: existence([
        deletion(Dot(a, 1), of: [a: 1]), purge(Dot(b, 2), seen: [a: 1, b: 1]),
        purge(Dot(c, 1), seen: [a: 1, b: 2, c: 1]),
      ])
    ])
  }

  /// An announcement and a purge have the same flag.
  @Test func purgeClockContainsOwnSave() throws {
    let marks = existence([
      purge(Dot(a, 2), seen: [a: 1]), purge(Dot(b, 2), seen: [a: 1, b: 2]),
    ])
    let read = try Delta(decoding: bytes([.existence: marks]))
    let kinds = read.changes[0].fields[.existence]?.marks.map(\.kind)
    #expect(kinds == [.purgeAnnouncement, .purge])
  }

  @Test func randomMarksAreReadAsWritten() throws {
    var random = SeededRandom(seed: 33)
    for _ in 0..<2000 {
      var marks = FieldState(.existence)
      for _ in 0...random.number(below: 4) {
        let device = DeviceID(UInt64(random.number(below: 4) + 1))
        _ = RandomEdits.field(&marks, .existence, device, &random)
      }
      try expectReadBack([.existence: marks])
      let dot = Dot(DeviceID(UInt64(random.number(below: 6) + 1)), 5)
      try expectReadBack([name: register(dot), .existence: marks])
    }
  }

  @Test func marksRoundTripWithFragment() throws {
    let tags = FieldKey("tags", .set)
    let clock: VectorClock = [a: 3]
    let fragment = Fragment(
      state: FieldState(
        Causal(
          ORSetStore([(.int(1), Siblings(AddMark(), at: Dot(a, 3)))]), clock)),
      basis: [a: 2], continued: [])
    let mark = existence([deletion(Dot(b, 1), of: [a: 3, b: 1])])
    let change = RecordChange(
      id: Sailor.ada, fields: [.existence: mark], fragments: [tags: fragment])
    let delta = Delta(changes: [change], intervals: [:])
    let read = try Delta(decoding: delta.encoded())
    #expect(read.changes == [change])
    #expect(try Delta(decoding: read.encoded()).encoded() == delta.encoded())
  }

  @Test func readerRefusesMalformedMarks() throws {
    // The last bytes are the number of marks, the reference to the save of a mark and
    // what it is, how much later it is stamped, and the clock that it covers. The
    // clock has the number of devices less one, the first device and its number less
    // one.
    let alive = bytes([
      .existence: existence([
        (Dot(a, 1), .alive(at: .zero))
      ])
    ])
    let deleted = bytes([
      .existence: existence([deletion(Dot(a, 2), of: [a: 1])])
    ])
    let (end, start) = (alive.count - 4, deleted.count - 10)
    try #require(alive[(end - 3)..<end] == [4, 0, 0])
    try #require(deleted[start..<(start + 6)] == [4, 1, 0, 0, 0, 0])
    for (message, place, byte, reason) in [
      (alive, end - 3, 0, "a save that the field has seen"),
      (deleted, start + 4, 1, "one of the devices"),
      (deleted, start + 3, 9, "at least 2 bytes for each of 10 items"),
    ] as [([UInt8], Int, UInt8, String)] {
      var changed = message
      changed[place] = byte
      let error = #expect(throws: WireError.self) {
        try Delta(decoding: changed.resealed)
      }
      #expect(error?.expected.contains(reason) == true, "\(error as Any)")
    }
  }
}
