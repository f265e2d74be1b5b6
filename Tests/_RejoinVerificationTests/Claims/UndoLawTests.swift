// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting
import Testing
import _RejoinVerification

/// Undo of saves in random histories.
///
/// The rules of undo never compute the expected state. It is that of a replica
/// without the save.
@Suite struct UndoLawTests {
  static let seeds: ClosedRange<UInt64> =
    Tier.isNightly ? 1...4000 : 1...200
  static let universe = ScriptUniverse.standard

  /// The shown values of the fields of existing records.
  typealias Readings = [FieldLocation: FieldReading]

  func readings(_ replica: Replica) -> Readings {
    var readings: Readings = [:]
    for location in Self.universe.locations {
      guard let record = replica.record(location.record), record.exists else {
        continue
      }
      var reading = record.reading(of: location.field)
      (reading.conflicts, reading.author) = ([], nil)
      // Other records decide whether a reference is shown.
      reading.value = record[location.field].value
      readings[location] = reading
    }
    return readings
  }

  func difference(_ a: Readings, _ b: Readings) -> [String] {
    Self.universe.locations.filter { a[$0] != b[$0] }.map {
      "\($0): \(a[$0] as Any), must be \(b[$0] as Any)"
    }
  }

  /// Makes an undoable save.
  func save(
    _ verbs: [ScriptVerb], on replica: Replica
  ) throws -> SaveReport {
    try replica.save { transaction in
      transaction.isUndoable = true
      transaction.perform(verbs)
    }
  }

  func undo(
    _ undo: UndoStep?, on replica: Replica
  ) throws -> SaveReport {
    try replica.undo(#require(undo))
  }

  /// An undo restores the state before the save, and its undo restores the
  /// state after it.
  @Test func immediateUndoRevertsSave() throws {
    var count = 0
    for seed in Self.seeds {
      let past = UndoPast(seed)
      let replica = past.one
      for verbs in past.saves {
        let before = readings(replica)
        guard let report = try? save(verbs, on: replica) else { continue }
        let after = readings(replica)
        let redo = try undo(report.undo, on: replica)
        #expect(
          difference(readings(replica), before) == [], "seed \(seed): \(verbs)")
        _ = try undo(redo.undo, on: replica)
        #expect(
          difference(readings(replica), after) == [],
          "seed \(seed), again: \(verbs)")
        count += before == after ? 0 : 1
      }
    }
    #expect(count > 100)
  }

  /// Undoes and redoes all saves of a history.
  @Test func historyUndoesAndRedoesSeveralSaves() throws {
    var count = 0
    for seed in Self.seeds {
      let past = UndoPast(seed)
      let replica = past.one
      var history = UndoHistory()
      // The states before each save that can be undone or redone.
      var (undone, redone): ([Readings], [Readings]) = ([], [])
      for verbs in past.saves + past.saves {
        let before = readings(replica)
        guard let report = try? save(verbs, on: replica) else { continue }
        history.append(report)
        if report.dot != nil { undone.append(before) }
      }
      var (random, moves) = (SeededRandom(seed: seed), "")
      for _ in 0..<30 {
        let isBack = random.chance(percent: 60)
        #expect(
          (isBack ? undone : redone).isEmpty
            == ((isBack ? history.undo : history.redo) == nil))
        guard let next = isBack ? history.undo : history.redo,
          let expected = isBack ? undone.popLast() : redone.popLast()
        else { continue }
        let before = readings(replica)
        let report = try undo(next, on: replica)
        history.append(report)
        if report.dot != nil {
          if isBack { redone.append(before) } else { undone.append(before) }
        }
        moves += isBack ? "<" : ">"
        let differing = difference(readings(replica), expected)
        #expect(
          differing == [], "seed \(seed), \(moves), of \(past.saves)")
        if !differing.isEmpty { break }
        count += 1
      }
    }
    #expect(count > 1000)
  }

  /// Another device saves concurrently, with the version before the save.
  @Test func laterUndoRevertsSave() throws {
    var count = 0
    for seed in Self.seeds {
      let past = UndoPast(seed)
      past.other.merge(past.one)
      past.one.merge(past.other)
      let (with, without) = (past.one, copy(past.one))
      let dead = Set(Self.universe.records.filter { !without.exists($0) })
      guard let report = try? save(past.saves[0], on: with) else { continue }
      for verbs in past.saves.dropFirst() {
        _ = try? save(verbs, on: past.other)
      }
      for replica in [with, without] { replica.merge(past.other) }
      let touched = readings(with) != readings(without)
      _ = try undo(report.undo, on: with)
      let exceptions = Self.exceptions(
        past.saves[0], past.saves.dropFirst().flatMap { $0 }, creating: dead)
      let (is_, mustBe) = (readings(with), readings(without))
      for location in Self.universe.locations
      where !exceptions.contains(location) {
        #expect(
          is_[location] == mustBe[location],
          "seed \(seed), \(location): \(past.saves)")
      }
      count += touched ? 1 : 0
      // Other devices receive the undo like any save.
      past.other.merge(with)
      with.merge(past.other)
      #expect(past.other.delta() == with.delta(), "seed \(seed)")
    }
    #expect(count > 50)
  }
}
