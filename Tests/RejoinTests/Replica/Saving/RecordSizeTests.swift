// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import Rejoin

@Suite(.encodes) struct RecordSizeTests {
  private let replica = Replica.empty(1)

  private func text(_ count: Int) -> String {
    String(repeating: "x", count: count)
  }

  private func size(_ replica: Replica) -> Int {
    replica.state.encodedRecord(at: 0).count
  }

  private func insert(_ element: String, _ replica: Replica) throws {
    try replica.edit { $0.tags.insert(element) }
  }

  @Test func defaultLimitIs16MiB() throws {
    #expect(Record.byteLimit == 16_777_216)
    #expect(replica.recordByteLimit == Record.byteLimit)
    let limit = Record.byteLimit
    try replica.edit { $0.name = text(limit - 1000) }
    #expect(throws: SaveError.self) {
      try replica.edit { $0.name = text(limit) }
    }
  }

  @Test func limitCountsEncodedBytes() throws {
    try replica.edit { $0.name = text(1000) }
    let limit = size(replica)
    let other = Replica.empty(2)
    other.recordByteLimit = limit
    let error = SaveError.recordTooLarge(Sailor.ada, byteCount: limit + 1)
    #expect(throws: error) { try other.edit { $0.name = text(1001) } }
    #expect(other.delta() == nil)
    try other.edit { $0.name = text(1000) }
    #expect(throws: error) { try other.edit { $0.name = text(1001) } }
    try other.edit { $0.name = text(1000) }
    #expect(size(other) == limit)
  }

  @Test func refusedSaveChangesNothing() throws {
    try replica.edit { $0.name = "Ada" }
    replica.recordByteLimit = 2000
    let (version, bytes) = (replica.version, replica.state.encoded())
    #expect(throws: SaveError.self) {
      try replica.save { transaction in
        transaction[Berth.self, "b"].name = "bow"
        transaction[Sailor.self, "ada"].name = text(3000)
        transaction[Sailor.self, "ada"].miles.increment()
      }
    }
    #expect(replica.version == version)
    #expect(replica.state.encoded() == bytes)
    #expect(replica[Berth.self, "b"] == nil)
  }

  /// Without a limit, each kind of field could grow from small saves.
  @Test(arguments: 0..<4)
  func smallSavesStopAtLimit(_ kind: Int) throws {
    replica.recordByteLimit = 6000
    var saves = 0
    while saves < 10_000 {
      do {
        try replica.edit { ada in
          switch kind {
          case 0: ada.tags.insert("element \(saves)")
          case 1: ada.pay.append(Int64(saves), memo: .string("m\(saves)"))
          case 2: ada.crew.insert(Reference("sailor \(saves)"))
          default: ada.name = text(saves * 10)
          }
        }
        saves += 1
      } catch SaveError.recordTooLarge(let id, let byteCount) {
        #expect(id == Sailor.ada && byteCount > 6000)
        break
      }
    }
    #expect(saves > 100)
    #expect((5900...6000).contains(size(replica)))
  }

  @Test func recordAboveLimitAcceptsRemovals() throws {
    let other = Replica.empty(2)
    for (one, name) in [(replica, "a"), (other, "b")] {
      one.recordByteLimit = 2500
      try one.edit { ada in
        for i in 0..<100 { ada.tags.insert("element \(i) of \(name)") }
        ada.name = "Ada"
      }
      try one.edit { $0.miles.increment() }
    }
    replica.merge(other)
    #expect(size(replica) > 2500)
    #expect(throws: SaveError.self) { try insert("element", replica) }
    try replica.edit { $0.tags.remove("element 1 of a") }
    try replica.edit { $0.name = nil }
    try replica.edit { $0.miles.reset() }
    #expect(throws: SaveError.self) { try insert("element", replica) }
    // A save that makes the record smaller may also add content.
    try replica.edit { ada in
      for i in 2..<20 { ada.tags.remove("element \(i) of b") }
      ada.tags.insert("element")
    }
    #expect(size(replica) > 2500)
    try replica.edit { $0.delete() }
    try replica.save { $0.undelete(Sailor.ada) }
    try replica.edit { $0.tags.removeAll() }
    try insert("element", replica)
    #expect(replica.ada?.tags == ["element"])
    other.merge(replica)
    #expect(other.ada?.tags == ["element"])
  }

  @Test func smallerTextIsAcceptedAboveLimit() throws {
    try replica.edit { $0.name = text(1000) }
    replica.recordByteLimit = 500
    #expect(throws: SaveError.self) {
      try replica.edit { $0.name = text(1001) }
    }
    try replica.edit { $0.name = text(900) }
    try replica.edit { $0.name = text(100) }
    #expect(throws: SaveError.self) { try replica.edit { $0.name = text(900) } }
  }

  @Test func importRefusesLargeRow() throws {
    replica.recordByteLimit = 500
    #expect(throws: SaveError.self) {
      try replica.importRows { $0[Sailor.self, "ada"].name = text(500) }
    }
    #expect(throws: SaveError.self) {
      try replica.importRows(from: "crm", modifiedAt: 1) {
        $0[Sailor.self, "ada"].name = text(500)
      }
    }
    #expect(replica.delta() == nil)
    try replica.importRows { $0[Sailor.self, "ada"].name = text(100) }
    #expect(replica.ada?.name == text(100))
  }

  /// The number of elements that are encoded must not depend on the set.
  @Test func boundOfLargeSetGrowsWithEdits() throws {
    try replica.edit { ada in
      for i in 0..<1000 { ada.tags.insert("\(i)") }
    }
    for i in 1000..<1010 { try insert("\(i)", replica) }
    let bounds = replica.current.largeFields.values.compactMap(\.byteBound)
    #expect(bounds.count == 1)
    try insert("another", replica)
    let grown = replica.current.largeFields.values.compactMap(\.byteBound)
    #expect(grown[0] > bounds[0] && grown[0] < bounds[0] + 200)
    let other = Replica.empty(2)
    replica.tell(other)
    try insert("a", other)
    try insert("b", other)
    // A fragment adds its own bound.
    try insert("c", replica)
    replica.tell(other)
    let joined = other.current.largeFields.values.compactMap(\.byteBound)
    #expect(joined.count == 1)
  }

  @Test(arguments: 0..<60 as Range<UInt64>)
  func boundCoversEncodedRecord(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let replicas = (1...4 as ClosedRange<UInt64>).map { Replica.empty($0) }
    for replica in replicas { replica.fragmentSize = 4 }
    for step in 0..<80 {
      let replica = replicas[random.number(below: 4)]
      try replica.edit { ada in
        switch random.number(below: 11) {
        case 0: ada.name = text(random.number(below: 300))
        case 1: ada.rank = text(random.number(below: 300))
        case 2: ada.miles.increment(by: .max >> 40)
        case 3: ada.miles.reset()
        case 4: ada.tags.insert("\(random.number(below: 20))")
        case 5: ada.tags.remove("\(random.number(below: 20))")
        case 6: ada.roles.insert(text(random.number(below: 20)))
        case 7: ada.pay.append(.min, memo: .string(text(step)))
        case 8, 9: ada.delete()
        default: ada.ensureExists()
        }
      }
      let other = replicas[random.number(below: 4)]
      if other !== replica, random.number(below: 3) == 0 { replica.tell(other) }
      for replica in replicas where replica.current.recordCount > 0 {
        let bytes = replica.current.encodedRecord(at: 0).count
        for isTight in [false, true] where !isTight || step % 20 == 0 {
          #expect(
            replica.current.byteBound(ofRecordAt: 0, isTight: isTight) >= bytes)
        }
      }
    }
  }
}
