// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
import Testing

/// Deltas contain only the new part of a large field.
@Suite(.encodes) struct LargeFieldTests {
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)
  private let tags = FieldKey("tags", .set)
  private let miles = FieldKey("miles", .counter)
  private let pay = FieldKey("pay", .ledger)

  /// Gives both replicas a set of a hundred elements.
  private func fill() throws {
    try a.edit { sailor in
      for i in 0..<100 { sailor.tags.insert("\(i)") }
    }
    b.merge(a)
  }

  private func fragment(
    of key: FieldKey, since basis: ReplicaVersion
  ) throws -> Fragment? {
    let delta = try #require(a.delta(since: basis))
    let change = try #require(delta.changes.first { $0.id == Sailor.ada })
    #expect((change.fields[key] == nil) == (change.fragments[key] != nil))
    return change.fragments[key]
  }

  @Test func deltaSendsOnlyInsertion() throws {
    try fill()
    try a.edit { $0.tags.insert("new") }
    let fragment = try #require(try fragment(of: tags, since: b.version))
    #expect(fragment.state.elements == ["new"])
    #expect(fragment.isWhole)
    #expect(fragment.basis == [a.device: 1])
    #expect(fragment.news == [a.device: 2])
    #expect(a.tell(b).changedFields.map(\.field) == [tags])
    #expect(areEqual(a, b))
    try a.edit { $0.tags.insert("next") }
    let next = try #require(try self.fragment(of: tags, since: b.version))
    #expect(next.state.elements == ["next"])
    b.merge(a)
    #expect(areEqual(a, b))
  }

  @Test func applyDoesNotReportKnownElement() throws {
    try fill()
    for replica in [a, b] { try replica.edit { $0.tags.insert("new") } }
    #expect(try fragment(of: tags, since: b.version) != nil)
    let report = a.tell(b)
    #expect(
      report.changedRecords == [Sailor.ada] && report.changedFields.isEmpty)
  }

  @Test func deltaSendsSmallFieldWhole() throws {
    try a.edit { $0.tags.insert("x") }
    b.merge(a)
    try a.edit { $0.tags.insert("y") }
    #expect(try fragment(of: tags, since: b.version) == nil)
  }

  @Test func deltaSendsWholeFieldOnceAfterRemoval() throws {
    try fill()
    try a.edit { $0.tags.remove("7") }
    #expect(try fragment(of: tags, since: b.version) == nil)
    b.merge(a)
    try a.edit { $0.tags.insert("7") }
    #expect(try fragment(of: tags, since: b.version) != nil)
    b.merge(a)
    #expect(areEqual(a, b))
  }

  @Test func deltaSendsWholeFieldAfterUndo() throws {
    try fill()
    let report = try a.save { transaction in
      transaction.isUndoable = true
      transaction[Sailor.self, "ada"].tags.remove("7")
      transaction[Sailor.self, "ada"].tags.insert("new")
    }
    b.merge(a)
    try a.undo(#require(report.undo))
    #expect(try fragment(of: tags, since: b.version) == nil)
    b.merge(a)
    #expect(areEqual(a, b))
    #expect(b.ada?.tags.contains("7") == true)
    #expect(b.ada?.tags.contains("new") == false)
  }

  @Test func deltaSendsRemovalBeforeFieldWasLarge() throws {
    try a.edit { $0.tags.insert("lost") }
    b.merge(a)
    try a.edit { $0.tags.remove("lost") }
    try a.edit { sailor in
      for i in 0..<100 { sailor.tags.insert("\(i)") }
    }
    #expect(try fragment(of: tags, since: b.version) == nil)
    b.merge(a)
    #expect(areEqual(a, b))
  }

  @Test func receiverRelaysFragment() throws {
    try fill()
    let c = Replica.empty(3)
    c.merge(a)
    try b.edit { $0.tags.insert("new") }
    a.merge(b)
    let fragment = try #require(try fragment(of: tags, since: c.version))
    #expect(fragment.state.elements == ["new"])
    c.merge(a)
    #expect(areEqual(a, c))
  }

  @Test func fragmentContainsMarksThatArrivedTogether() throws {
    try fill()
    let c = Replica.empty(3)
    c.merge(a)
    // Build the index before more marks arrive.
    try a.edit { $0.tags.insert("mine") }
    _ = try fragment(of: tags, since: b.version)
    for element in ["z", "m", "a", "q"] {
      try b.edit { $0.tags.insert(element) }
    }
    let middle = b.version
    try b.edit { $0.tags.insert("k") }
    try b.edit { $0.tags.insert("b") }
    a.merge(b)
    let known = middle.vectorClock.merging(
      a.version.vectorClock.intersection([a.device: 9]))
    let fragment = try #require(
      try fragment(of: tags, since: ReplicaVersion(known)))
    #expect(fragment.state.elements == ["b", "k"])
  }

  @Test func largeFieldDropsStaleMarks() throws {
    try fill()
    for round in 0..<10 {
      try a.edit { sailor in
        for i in 0..<100 { sailor.tags.insert("\(i)") }
      }
      let fragment = try #require(try fragment(of: tags, since: b.version))
      #expect(fragment.state.elements.count == 100, "\(round)")
    }
    let marks = a.current.largeFields.values.compactMap(\.marks?.count)
    let count = try #require(marks.first { $0 > 0 })
    #expect(count <= 2 * 100 + 16)
  }

  @Test func deltaSendsOnlyIncrement() throws {
    for i in 10..<110 as Range<UInt64> {
      let other = Replica.empty(i)
      try other.edit { $0.miles.increment(by: 1) }
      a.merge(other)
    }
    b.merge(a)
    try a.edit { $0.miles.increment(by: 5) }
    let fragment = try #require(try fragment(of: miles, since: b.version))
    guard case .counter(let part) = fragment.state.box else {
      return #expect(Bool(false))
    }
    #expect(part.store.entries.map(\.device) == [a.device])
    #expect(!fragment.isWhole && fragment.basis.isEmpty)
    b.merge(a)
    #expect(b.ada?.miles == 105)
    #expect(areEqual(a, b))
    try a.edit { $0.miles.increment(by: 1) }
    let later = try #require(try self.fragment(of: miles, since: b.version))
    #expect(later.basis == [a.device: 1])
  }

  @Test func deltaSendsResetWithCanceledAmounts() throws {
    for i in 10..<110 as Range<UInt64> {
      let other = Replica.empty(i)
      try other.edit { $0.miles.increment(by: 1) }
      a.merge(other)
    }
    b.merge(a)
    try a.edit { $0.miles.reset() }
    let fragment = try #require(try fragment(of: miles, since: b.version))
    #expect(fragment.isWhole && fragment.basis.entries.count == 100)
    #expect(a.tell(b).changedFields.map(\.field) == [miles])
    #expect(b.ada?.miles == 0)
    #expect(areEqual(a, b))
  }

  @Test func deltaSendsOnlyEntry() throws {
    try a.edit { sailor in
      for i in 1...100 { sailor.pay.append(Int64(i)) }
    }
    b.merge(a)
    try a.edit { $0.pay.append(7) }
    let fragment = try #require(try fragment(of: pay, since: b.version))
    guard case .ledger(let part) = fragment.state.box else {
      return #expect(Bool(false))
    }
    #expect(part.store.lines[a.device]?.tail.map(\.amount) == [7])
    #expect(part.store.lines[a.device]?.folded == 100)
    #expect(fragment.continued == [a.device])
    #expect(a.tell(b).changedFields.map(\.field) == [pay])
    #expect(b.ada?.pay == 5057)
    #expect(areEqual(a, b))
  }

  @Test func deltaSendsCancellationWithItsSum() throws {
    try a.edit { sailor in
      for i in 1...100 { sailor.pay.append(Int64(i)) }
    }
    b.merge(a)
    let cancelling = FieldEdit.append(.cancelling)
    try a.save { $0.apply(cancelling, to: pay, of: Sailor.ada) }
    let fragment = try #require(try fragment(of: pay, since: b.version))
    #expect(fragment.isWhole)
    #expect(a.tell(b).changedFields.map(\.field) == [pay])
    #expect(b.ada?.pay == 0)
    #expect(areEqual(a, b))
  }

  @Test func replicaStateStoresHorizon() throws {
    try fill()
    try a.edit { $0.tags.insert("new") }
    let bytes = a.state.encoded()
    let stored = try ReplicaState(decoding: bytes)
    #expect(stored.encoded() == bytes)
    let opened = Replica.opening(stored, token: a.restoreToken, as: 9)
    let delta = try #require(opened.delta(since: b.version))
    #expect(delta.changes[0].fragments[tags]?.state.elements == ["new"])
    b.apply(delta)
    #expect(areEqual(opened, b))
  }

  /// A part of a delta brings the field without the record's mark, which would
  /// otherwise be its first field.
  @Test func replicaStateStoresHorizonOfFirstField() throws {
    var parts: [Delta] = []
    var basis = a.version
    for elements in [(0..<100).map { "\($0)" }, ["new"]] {
      let version = a.version
      try a.edit { sailor in
        for element in elements { sailor.tags.insert(element) }
      }
      let delta = try #require(a.delta(since: version))
      parts += delta.split(into: 2).filter {
        $0.changes.allSatisfy { $0.fields[.existence] == nil }
      }
      basis = version
    }
    for part in parts { b.apply(part) }
    let opened = Replica.opening(
      try ReplicaState(decoding: b.state.encoded()), token: b.restoreToken,
      as: 9)
    for replica in [b, opened] {
      let delta = try #require(replica.delta(since: basis))
      #expect(delta.changes.map(\.id) == [Sailor.ada])
      #expect(delta.changes[0].fragments[tags]?.state.elements == ["new"])
    }
  }

  @Test func applyReportsValuesOfWholeField() throws {
    try fill()
    try a.edit { $0.tags.insert("new") }
    let delta = try #require(a.delta(since: b.version))
    let report = b.apply(delta, reporting: .changesWithValues)
    #expect(report.fieldChanges.count == 1)
    #expect(report.fieldChanges.first?.old.elements.count == 100)
    #expect(report.fieldChanges.first?.new.elements.count == 101)
    #expect(b.apply(delta).changedFields.isEmpty)
  }

  @Test func partsOfDeltaCarryFragments() throws {
    try fill()
    try a.edit {
      $0.tags.insert("new")
      $0.name = "Ada"
    }
    let parts = try #require(a.delta(since: b.version)).split(into: 3)
    for part in parts.reversed() { #expect(!b.apply(part).hasFaults) }
    #expect(b.ada?.tags.contains("new") == true)
    #expect(b.ada?.name == "Ada")
    a.tell(b)
    #expect(areEqual(a, b))
  }
}
