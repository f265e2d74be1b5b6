// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting
import Testing
import _RejoinVerification

/// Undo with concurrent writes.
///
/// The tests compare all siblings, including those of deleted records.
@Suite struct UndoConflictTests {
  private let laws = UndoLawTests()

  /// The content of fields, shown or not.
  private typealias Contents = [FieldLocation: Content]

  private struct Content: Equatable {
    /// The values of all siblings of a register, sorted.
    var siblings: [String]
    /// The reading of a field of another kind.
    var reading: FieldReading
  }

  private func contents(_ replica: Replica) -> Contents {
    var contents: Contents = [:]
    for location in UndoLawTests.universe.locations {
      let record = replica.recordForEditing(location.record)
      let state = record[location.field]
      var reading = state.reading
      (reading.value, reading.author) = (nil, nil)
      contents[location] = Content(
        siblings: state.writes.map { "\($0.value as Value?)" }.sorted(),
        reading: reading)
    }
    return contents
  }

  private func difference(_ a: Contents, _ b: Contents) -> [String] {
    UndoLawTests.universe.locations.filter { a[$0] != b[$0] }.map {
      "\($0): \(a[$0] as Any), must be \(b[$0] as Any)"
    }
  }

  private func existing(_ replica: Replica) -> [RecordID] {
    UndoLawTests.universe.records.filter(replica.exists)
  }

  /// Makes two concurrent saves of devices with equal versions.
  private func makeConcurrentSaves(
    _ past: UndoPast, through shown: [RecordID: Record]? = nil
  ) throws -> (mine: SaveReport, theirs: SaveReport)? {
    guard let theirs = try? laws.save(past.saves[1], on: past.other),
      let mine = try? save(past.saves[0], on: past.one, through: shown)
    else { return nil }
    return (mine, theirs)
  }

  /// Makes an undoable save, with the records that its author saw.
  private func save(
    _ verbs: [ScriptVerb], on replica: Replica,
    through shown: [RecordID: Record]?
  ) throws -> SaveReport {
    guard let shown else { return try laws.save(verbs, on: replica) }
    return try replica.save { transaction in
      transaction.isUndoable = true
      for (id, verbs) in Dictionary(grouping: verbs, by: \.id) {
        guard let record = shown[id] else { continue }
        if case .delete = verbs.last {
          transaction.delete(
            id, observed: record[.existence], seen: record.clock)
          continue
        }
        let fields = record.fields.map { ($0, record[$0]) }
        transaction.ensureExists(
          id, observed: record[.existence],
          recreatingWith: record.isDead
            ? Dictionary(uniqueKeysWithValues: fields) : nil)
        for case .edit(_, let key, let edit) in verbs {
          transaction.apply(edit, to: key, of: id, observed: record[key])
        }
      }
    }
  }

  private func snapshots(_ replica: Replica) -> [RecordID: Record] {
    Dictionary(
      uniqueKeysWithValues: UndoLawTests.universe.records.map {
        ($0, replica.recordForEditing($0))
      })
  }

  /// An immediate redo restores the content before the undo.
  @Test(arguments: [false, true])
  func immediateUndoAndRedoLoseNothing(isOfContexts: Bool) throws {
    var (conflicts, moves) = (0, 0)
    for seed in UndoLawTests.seeds {
      let past = UndoPast(seed)
      let shown = isOfContexts ? snapshots(past.one) : nil
      past.other.merge(past.one)
      past.one.merge(past.other)
      guard let saves = try makeConcurrentSaves(past, through: shown) else {
        continue
      }
      past.one.merge(past.other)
      let (before, records) = (contents(past.one), existing(past.one))
      let shows = laws.readings(past.one)
      conflicts += before.values.contains { $0.siblings.count > 1 } ? 1 : 0
      let undone = try laws.undo(saves.mine.undo, on: past.one)
      moves += contents(past.one) == before ? 0 : 1
      _ = try laws.undo(undone.undo, on: past.one)
      #expect(
        difference(contents(past.one), before) == [],
        "seed \(seed): \(past.saves)")
      #expect(existing(past.one) == records, "seed \(seed): \(past.saves)")
      #expect(
        laws.difference(laws.readings(past.one), shows) == [],
        "seed \(seed): \(past.saves)")
    }
    #expect(conflicts > 20 && moves > 60)
  }

  /// Both sides undo their save, one after the other.
  @Test func undoOnBothSidesRevertsBothSaves() throws {
    var moves = 0
    for seed in UndoLawTests.seeds {
      let past = UndoPast(seed)
      past.other.merge(past.one)
      past.one.merge(past.other)
      let without = laws.copy(past.one)
      let dead = Set(
        UndoLawTests.universe.records.filter { !without.exists($0) })
      guard let saves = try makeConcurrentSaves(past) else { continue }
      past.one.merge(past.other)
      past.other.merge(past.one)
      let before = contents(past.one)
      _ = try laws.undo(saves.mine.undo, on: past.one)
      past.other.merge(past.one)
      _ = try laws.undo(saves.theirs.undo, on: past.other)
      past.one.merge(past.other)
      let exceptions =
        UndoLawTests.exceptions(past.saves[0], past.saves[1], creating: dead)
        .union(
          UndoLawTests.exceptions(
            past.saves[1], past.saves[0], creating: dead))
      let (are, mustBe) = (laws.readings(past.one), laws.readings(without))
      for location in UndoLawTests.universe.locations
      where !exceptions.contains(location) {
        #expect(
          are[location] == mustBe[location],
          "seed \(seed), \(location): \(past.saves)")
      }
      moves += contents(past.one) == before ? 0 : 1
      #expect(past.other.delta() == past.one.delta(), "seed \(seed)")
    }
    #expect(moves > 60)
  }

  /// Unseen values stay, and one of the seen values returns.
  @Test func immediateUndoRevertsContextSave() throws {
    var (unseen, moves) = (0, 0)
    for seed in UndoLawTests.seeds {
      let past = UndoPast(seed)
      let shown = snapshots(past.one)
      _ = try? laws.save(past.saves[2], on: past.one)
      past.one.merge(past.other)
      let before = snapshots(past.one)
      let (held, records) = (contents(past.one), existing(past.one))
      let shows = laws.readings(past.one)
      guard
        let report = try? save(past.saves[0], on: past.one, through: shown)
      else { continue }
      let saved = contents(past.one)
      moves += saved == held ? 0 : 1
      _ = try laws.undo(report.undo, on: past.one)
      let now = contents(past.one)
      #expect(existing(past.one) == records, "seed \(seed): \(past.saves)")
      #expect(
        laws.difference(laws.readings(past.one), shows) == [], "seed \(seed)")
      for location in UndoLawTests.universe.locations {
        guard location.field.kind == .register else {
          #expect(now[location] == held[location], "seed \(seed), \(location)")
          continue
        }
        // The unseen siblings stay, and one of the others returns.
        let writes = before[location.record]?[location.field].writes ?? []
        let clock =
          shown[location.record]?[location.field].clock ?? VectorClock()
        let stays = writes.filter { !clock.contains($0.dot) }
          .map { "\($0.value as Value?)" }
        unseen += stays.isEmpty || saved[location] == held[location] ? 0 : 1
        let values = Set(now[location]?.siblings ?? [])
        let former = held[location]?.siblings ?? []
        #expect(values.isSuperset(of: stays), "seed \(seed), \(location)")
        #expect(values.isSubset(of: former), "seed \(seed), \(location)")
        #expect(
          values.isEmpty == former.isEmpty, "seed \(seed), \(location)")
      }
    }
    #expect(unseen > 5 && moves > 60)
  }
}
