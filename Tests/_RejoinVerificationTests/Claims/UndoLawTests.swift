// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting
import Testing
import _RejoinVerification

/// Undoing a save, in histories drawn at random.
///
/// What is expected is never computed by the rules of undoing: it is what a replica
/// shows that has not made the save.
@Suite struct UndoLawTests {
  static let seeds: ClosedRange<UInt64> =
    Tier.isNightly ? 1...4000 : 1...200
  static let universe = ScriptUniverse.standard

  /// What a replica shows of a field of a record that exists; of siblings the
  /// visible one.
  typealias Readings = [FieldPath: FieldReading]

  func readings(_ replica: Replica) -> Readings {
    var readings: Readings = [:]
    for path in Self.universe.paths {
      guard let record = replica.record(path.id), record.exists else {
        continue
      }
      var reading = record.reading(of: path.key)
      (reading.conflicts, reading.author) = ([], nil)
      // Other records decide whether a reference is shown.
      reading.value = record[path.key].value
      readings[path] = reading
    }
    return readings
  }

  func difference(_ a: Readings, _ b: Readings) -> [String] {
    Self.universe.paths.filter { a[$0] != b[$0] }.map {
      "\($0): \(a[$0] as Any), must be \(b[$0] as Any)"
    }
  }

  /// Saves what can be undone.
  func save(
    _ verbs: [ScriptVerb], on replica: Replica
  ) throws -> SaveReport {
    try replica.save { transaction in
      transaction.isUndoable = true
      verbs.forEach(transaction.perform)
    }
  }

  func undo(
    _ undo: UndoStep?, on replica: Replica
  ) throws -> SaveReport {
    try replica.undo(#require(undo))
  }

  /// What `undo` leaves is what there was; what undoing that leaves is what the
  /// save left.
  @Test func undoneAtOnceASaveIsAsIfItHadNotBeen() throws {
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

  /// Back and forth through all saves of a history.
  @Test func severalSavesAreUndoneAndRedoneInARow() throws {
    var count = 0
    for seed in Self.seeds {
      let past = UndoPast(seed)
      let replica = past.one
      var history = UndoHistory()
      // What there was before each save that can be undone or redone.
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

  /// Another device, which has heard of all before the save, saves as well.
  @Test func undoneLaterASaveIsAsIfItHadNotBeen() throws {
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
      for path in Self.universe.paths where !exceptions.contains(path) {
        #expect(
          is_[path] == mustBe[path], "seed \(seed), \(path): \(past.saves)")
      }
      count += touched ? 1 : 0
      // And it travels like any save.
      past.other.merge(with)
      with.merge(past.other)
      #expect(past.other.delta() == with.delta(), "seed \(seed)")
    }
    #expect(count > 50)
  }
}
