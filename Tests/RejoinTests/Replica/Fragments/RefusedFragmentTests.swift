// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
import Testing

/// Fragments that a replica must refuse.
@Suite(.encodes) struct RefusedFragmentTests {
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)
  private let tags = FieldKey("tags", .set)
  private let pay = FieldKey("pay", .ledger)

  init() { (a.fragmentSize, b.fragmentSize) = (0, 0) }

  /// Returns a delta and another that continues it.
  private func deltas(
    _ edit: (RecordEditor<Sailor>, Int) -> Void
  ) throws -> [Delta] {
    try a.edit { edit($0, 0) }
    var deltas: [Delta] = []
    for i in 1...2 {
      let basis = a.version
      try a.edit { edit($0, i) }
      deltas.append(try #require(a.delta(since: basis)))
    }
    return deltas
  }

  @Test func applyRefusesFragmentWithMissingBasis() throws {
    let deltas = try deltas { sailor, i in sailor.tags.insert("\(i)") }
    let report = b.apply(deltas[1])
    let place = FieldLocation(record: Sailor.ada, field: tags)
    #expect(
      report.gaps.contains(
        .init(
          device: a.device, lastHeldSave: 0, lastAssumedSave: 2, field: place)))
    // The interval has a gap as well.
    #expect(report.gaps.contains { $0.field == nil })
    #expect(report.hasFaults)
    #expect(b.version[a.device].sequence == 0)
    #expect(b.ada == nil)
    #expect(!a.tell(b).hasFaults)
    #expect(b.ada?.tags == ["0", "1", "2"])
    #expect(areEqual(a, b))
  }

  @Test func refusedFragmentDoesNotCreateRecord() throws {
    let deltas = try deltas { sailor, i in sailor.tags.insert("\(i)") }
    let part = try #require(
      deltas[1].split(into: 2).first { part in
        part.changes.contains { !$0.fragments.isEmpty }
      })
    #expect(b.apply(part).hasFaults)
    #expect(b.record(Sailor.ada) == nil)
    #expect(b.current.records.isEmpty)
  }

  @Test func intervalAwaitsRefusedFragment() throws {
    // The receiver lacks only the save of the first device.
    try a.edit { $0.tags.insert("a") }
    let c = Replica.empty(3)
    c.fragmentSize = 0
    c.merge(a)
    let basis = c.version
    try c.edit { $0.tags.insert("c") }
    let delta = try #require(c.delta(since: basis))
    let report = b.apply(delta)
    #expect(report.gaps.map(\.device) == [a.device])
    #expect(b.version.vectorClock.isEmpty)
    c.tell(b)
    #expect(areEqual(b, c))
  }

  @Test func intervalDoesNotAwaitSavesThatFieldHasSeen() throws {
    let (c, d) = (Replica.empty(3), Replica.empty(4))
    for replica in [c, d] { replica.fragmentSize = 0 }
    try a.edit { $0.tags.insert("a") }
    c.merge(a)
    try c.edit { $0.tags.insert("c") }
    // Apply the record alone: the field has seen both saves, the version none.
    d.apply(Delta([try #require(c.change(of: Sailor.ada))]))
    b.merge(c)
    try b.edit { $0.tags.insert("b") }
    c.merge(b)
    let basis = ReplicaVersion([a.device: 1, b.device: 1])
    let delta = try #require(c.delta(since: basis))
    let report = d.apply(delta)
    #expect(report.gaps.map(\.device) == [b.device])
    #expect(d.version.vectorClock == [c.device: 1])
    c.tell(d)
    #expect(areEqual(c, d))
  }

  @Test func applyTakesKnownDevicesOfFragment() throws {
    try a.edit { $0.miles.increment(by: 1) }
    let c = Replica.empty(3)
    c.fragmentSize = 0
    c.merge(a)
    try c.edit { $0.miles.increment(by: 10) }
    b.merge(c)
    let basis = a.version.vectorClock.merging(c.version.vectorClock)
    try a.edit { $0.miles.increment(by: 2) }
    try c.edit { $0.miles.increment(by: 20) }
    c.merge(a)
    // A fourth device knows only the device of `a`.
    let d = Replica.empty(4)
    d.fragmentSize = 0
    let first = try #require(
      Delta(decodingChanges: a, of: Sailor.ada, upTo: 1))
    d.apply(first)
    let delta = try #require(c.delta(since: ReplicaVersion(basis)))
    let report = d.apply(delta)
    #expect(report.gaps.contains { $0.device == c.device && $0.field != nil })
    #expect(d.ada?.miles == 3)
    c.tell(d)
    #expect(areEqual(c, d))
  }

  @Test(arguments: [true, false])
  func applyDetectsMissingEntriesDespiteClock(
    hasSome: Bool
  ) throws {
    let deltas = try deltas { sailor, i in sailor.pay.append(Int64(i + 1)) }
    // Another history of the device, with fewer entries under the same numbers.
    let clone = Replica.empty(1)
    try clone.edit { sailor in
      if hasSome { sailor.pay.append(9) } else { sailor.name = "x" }
    }
    try clone.edit { $0.name = "y" }
    b.merge(clone)
    let report = b.apply(
      Delta(changes: deltas[1].changes, intervals: [:]))
    #expect(report.gaps.contains { $0.field?.field == pay })
    #expect(report.forkedDevices == [a.device])
    #expect(b.ada?.pay == (hasSome ? 9 : 0))
  }

  @Test func deltaSendsWholeFieldOfForkedDevice() throws {
    try b.edit { $0.tags.insert("0") }
    a.merge(b)
    // Send a fragment first: otherwise, the field would be sent whole anyway.
    try a.edit { $0.tags.insert("1") }
    a.tell(b)
    let c = Replica.empty(3)
    c.merge(b)
    try b.edit { $0.tags.insert("x") }
    let sound = try #require(b.delta(since: c.version))
    #expect(sound.changes.contains { !$0.fragments.isEmpty })
    b.current.version.fork(a.device)
    try b.edit { $0.tags.insert("2") }
    let delta = try #require(b.delta(since: c.version))
    #expect(delta.changes.allSatisfy { $0.fragments.isEmpty })
  }
}

extension Delta {
  /// Creates the delta of a replica with one increment.
  fileprivate init?(
    decodingChanges replica: Replica, of id: RecordID, upTo count: UInt64
  ) {
    let twin = Replica.empty(1)
    twin.fragmentSize = 0
    guard (try? twin.edit { $0.miles.increment(by: 1) }) != nil,
      let delta = twin.delta()
    else { return nil }
    self = delta
  }
}
