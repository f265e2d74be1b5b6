// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing
import _RejoinVerification

@testable import Rejoin

/// Random histories of devices that add, reset, undo, redo and sync.
///
/// The amounts are powers of four. So a value shows how often each change
/// counts.
@Suite(.encodes) struct UndoneResetLawTests {
  private static let seeds: ClosedRange<UInt64> =
    Tier.isNightly ? 1...10_000 : 1...400

  private static let entity = "Value"
  private static let id = RecordID(entity, "k")

  private struct Counts {
    var undone = 0
    var prevented = 0
    var twice: [UInt64] = []
    /// The seeds whose cancellations were all undone, and whose value lacks a
    /// change.
    var notBack: [UInt64] = []
  }

  private struct History {
    let kind: FieldKind
    let replicas: [Replica]
    var random: SeededRandom
    /// The number of resets that are not undone.
    var standing = 0
    /// The next amount.
    var amount: Int64 = 1
    /// The sum of the changes that some reset has seen.
    var seen: Int64 = 0
    var counts = Counts()

    init(_ kind: FieldKind, _ seed: UInt64) {
      self.kind = kind
      random = SeededRandom(seed: seed)
      replicas = (1...3).map { Replica.empty($0) }
      if seed.isMultiple(of: 2) { replicas.forEach { $0.fragmentSize = 0 } }
    }

    var key: FieldKey { FieldKey("n", kind) }

    func value(on replica: Replica) -> Int64 {
      guard let field = replica.record(UndoneResetLawTests.id)?[key] else {
        return 0
      }
      return kind == .counter ? field.count : field.total
    }

    /// Returns whether each change counts at most once.
    func isSound(_ value: Int64) -> Bool {
      var rest = value
      while rest > 0, rest % 4 < 2 { rest /= 4 }
      return rest == 0
    }

    mutating func add(on replica: Replica) throws {
      guard amount < 1 << 60 else { return }
      try replica.save {
        $0.apply(
          kind.edit(adding: amount), to: key, of: UndoneResetLawTests.id)
      }
      amount *= 4
    }

    /// Resets the field, or creates the record again.
    mutating func reset(on replica: Replica) throws {
      seen |= value(on: replica)
      let isRecreated = random.chance(percent: 30)
      let report = try replica.save(undoable: "Reset") { transaction in
        if isRecreated {
          transaction.delete(UndoneResetLawTests.id)
          transaction.apply(
            .write(1), to: FieldKey("name", .register),
            of: UndoneResetLawTests.id)
        } else {
          transaction.apply(
            kind.canceling, to: key, of: UndoneResetLawTests.id)
        }
      }
      standing += report.dot == nil ? 0 : 1
    }

    mutating func turn(_ again: Bool, on replica: Replica) throws {
      switch again ? try replica.redo() : try replica.undo() {
      case .done(let report)
      where !report.unrevertedFields.contains { $0.field == key }:
        // A redo cancels like a reset.
        standing += again ? 1 : -1
        counts.undone += 1
      case .done, .prevented: counts.prevented += 1
      case .nothing: break
      }
    }

    mutating func step() throws {
      let replica = random.pick(replicas)
      let before = value(on: replica)
      switch random.number(below: 8) {
      case 0: try add(on: replica)
      case 1: try reset(on: replica)
      case 2, 3: try turn(false, on: replica)
      case 4: try turn(true, on: replica)
      default: replica.tell(random.pick(replicas))
      }
      let after = value(on: replica)
      if after < before { seen |= before & ~after }
    }
  }

  private func run(_ kind: FieldKind, _ seed: UInt64) throws -> History {
    var history = History(kind, seed)
    for _ in 0..<40 {
      try history.step()
      if !history.replicas.map(history.value).allSatisfy(history.isSound) {
        history.counts.twice = [seed]
        return history
      }
    }
    let replicas = history.replicas
    settle(replicas[0], replicas[1], replicas[2])
    let values = replicas.map(history.value)
    #expect(Set(values).count == 1, "seed \(seed): \(values)")
    #expect(areEqual(replicas[0], replicas[1], replicas[2]), "seed \(seed)")
    // Each change that no reset has seen counts.
    let all = (history.amount - 1) / 3
    #expect(all & ~history.seen & ~values[0] == 0, "seed \(seed): \(values)")
    if !history.isSound(values[0]) { history.counts.twice = [seed] }
    if history.standing == 0, values[0] != all {
      history.counts.notBack = [seed]
    }
    return history
  }

  @Test(arguments: [FieldKind.counter, .ledger])
  func changesCountAtMostOnce(_ kind: FieldKind) throws {
    var total = Counts()
    for seed in Self.seeds {
      let counts = try run(kind, seed).counts
      total.undone += counts.undone
      total.prevented += counts.prevented
      total.twice += counts.twice
      total.notBack += counts.notBack
    }
    print(
      "undone resets of a \(kind): \(Self.seeds.count) histories, "
        + "\(total.twice.count) count twice, \(total.undone) undone, "
        + "\(total.prevented) prevented, \(total.notBack.count) not back")
    #expect(total.twice == [])
    #expect(total.undone > Self.seeds.count)
    #expect(total.prevented > Self.seeds.count / 10)
  }
}
