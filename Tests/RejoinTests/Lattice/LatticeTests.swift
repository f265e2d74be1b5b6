// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
import Testing
import _RejoinVerification

/// A lattice that an app composes.
private struct Card: Lattice, Hashable {
  var name = MVRegister<String>()
  var likes = PNCounter()
  var tags = ORSet<String>()

  mutating func merge(_ other: Card) {
    name.merge(other.name)
    likes.merge(other.likes)
    tags.merge(other.tags)
  }

  mutating func change(
    _ device: DeviceID, _ random: inout SeededRandom
  ) throws -> Card {
    var delta = Card()
    switch random.number(below: 3) {
    case 0: delta.name = RandomChanges.mvRegister(&name, device, &random)
    case 1: delta.likes = try RandomChanges.counter(&likes, device, &random)
    default: delta.tags = RandomChanges.set(&tags, device, &random)
    }
    return delta
  }
}

/// A ledger whose equality includes the fold.
private struct FoldedLedger: Lattice, Equatable {
  var ledger = Ledger()

  mutating func merge(_ other: FoldedLedger) { ledger.merge(other.ledger) }

  static func == (a: FoldedLedger, b: FoldedLedger) -> Bool {
    a.ledger == b.ledger
      && a.ledger.entries.map { "\($0)" } == b.ledger.entries.map { "\($0)" }
  }
}

/// Checks the laws of every lattice on states that random scripts reach.
@Suite(.encodes) struct LatticeTests {
  private static let seeds: Range<UInt64> = 0..<(Tier.isNightly ? 1500 : 60)

  private struct Total {
    var checks = LawChecks()
    var types = 0

    mutating func add<State: Lattice & Hashable>(
      _ initial: State, _ change: @escaping RandomChange<State>
    ) {
      add { () throws(LawFailure) in
        try checkLaws(from: initial, seeds: LatticeTests.seeds, change: change)
      }
    }

    mutating func add(_ check: () throws(LawFailure) -> LawChecks) {
      do throws(LawFailure) {
        checks += try check()
        types += 1
      } catch {
        Issue.record(error)
      }
    }
  }

  @Test func everyLatticeSatisfiesLaws() {
    var total = Total()
    addTypes(to: &total)
    addFields(to: &total)
    let (cases, scripts) = (total.checks.cases, total.checks.scripts)
    print("laws: \(cases) cases, \(scripts) scripts, \(total.types) lattices")
    #expect(cases >= (Tier.isNightly ? 1_000_000 : 10_000))
  }

  private func addTypes(to total: inout Total) {
    total.add(VectorClock(), RandomChanges.vectorClock)
    total.add(CausalContext(), RandomChanges.causalContext)
    total.add(LWWRegister(), RandomChanges.lwwRegister)
    total.add(MVRegister(), RandomChanges.mvRegister)
    total.add(MVRegister(), RandomChanges.observedMVRegister)
    total.add(PNCounter(), RandomChanges.counter)
    total.add(ORSet(), RandomChanges.set)
    total.add(Ledger(), RandomChanges.ledger)
    total.add(Card()) { try $0.change($1, &$2) }
  }

  private func addFields(to total: inout Total) {
    for kind in FieldKind.allCases + [.existence] {
      total.add(FieldState(kind)) { RandomEdits.field(&$0, kind, $1, &$2) }
    }
    total.add(Causal(), RandomEdits.map)
    total.add { () throws(LawFailure) in
      try checkLattice(from: FoldedLedger(), seeds: LatticeTests.seeds) {
        _ = RandomChanges.ledger(&$0.ledger, $1, &$2)
        return $0
      }
    }
  }
}
