// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting
import Testing

private let phone = DeviceID(high: 0x41 << 56, low: 0)

@Suite struct LawFailureTests {
  /// The description shows the fault, the steps that lead to it, and how to
  /// repeat it.
  @Test func failureShowsStepsAndReplay() {
    let failure = failure { seeds throws(LawFailure) in
      try checkLattice(from: OrderedRegister(.clockFirst), seeds: seeds) {
        $0.change($1, &$2)
      }
    }
    let lines = failure?.description.split(separator: "\n").map(String.init)
    let name = "OrderedRegister(fault: clockFirst, value: "
    let a = name + "32, clock: [A: 1], time: 3, device: A)"
    let b = name + "77, clock: [B: 1], time: 1, device: B)"
    let c = name + "37, clock: [A: 2], time: 0, device: A)"
    #expect(
      lines == [
        "OrderedRegister breaks the law associative: "
          + "(a ⊔ b) ⊔ c = a ⊔ (b ⊔ c)",
        "  a            \(a)",
        "  b            \(b)",
        "  c            \(c)",
        "  (a ⊔ b) ⊔ c  \(c)",
        "  a ⊔ (b ⊔ c)  \(a)",
        "after 3 steps, shrunk from 12:",
        "  1. A changes: \(a)",
        "  2. B changes: \(b)",
        "  3. A changes: \(c)",
        "replay with checkLattice(…, seeds: 0..<1)",
      ])
  }

  @Test func failureShowsPartsOfCounter() throws {
    let failure = failure { _ throws(LawFailure) in
      try checkDelta(samples: [PNCounter()]) { counter in
        try counter.increment(by: 0, on: phone)
        return PNCounter()
      }
    }
    #expect(
      failure?.exhibits.last?.text
        == "PNCounter(entries: [Entry(device: A, sequence: 1, "
        + "increments: 0, decrements: 0)], canceled: [])")
  }

  @Test func failureShowsPartsOfEveryKind() {
    let failure = failure { _ throws(LawFailure) in
      try checkLattice(samples: [Parts()])
    }
    #expect(
      failure?.exhibits.last?.text == #"Parts(clock: [A: 2], text: "a \"b\"", "#
        + #"map: ["a": 1, "b": 2], noMap: [:], set: [1, 2, 3], "#
        + #"list: [neither, one(1), both(2, text: "c")], some: 4, none: nil)"#)
  }
}

/// A value with parts of every kind, whose merge is not idempotent.
private struct Parts: Lattice, Hashable {
  enum Choice: Hashable {
    case neither
    case one(Int)
    case both(Int, text: String)
  }

  var clock: VectorClock = [phone: 2]
  var text = "a \"b\""
  var map = ["b": 2, "a": 1]
  var noMap: [Int: Int] = [:]
  var set: Set = [3, 1, 2]
  var list = [Choice.neither, .one(1), .both(2, text: "c")]
  var some: Int? = 4
  var none: Int?

  mutating func merge(_ other: Parts) { none = (none ?? 0) + 1 }
}
