// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

/// The fixtures of the broken lattices, without faults.
@Suite struct SoundLatticeTests {
  private func expectSound(_ check: Check) throws {
    let checks = try check(0..<300)
    #expect(checks.scripts == 300)
    #expect(checks.cases > 300 * 20)
  }

  @Test func valueKeepsLaws() throws {
    try expectSound { seeds throws(LawFailure) in
      try checkLaws(from: FaultyValue(), seeds: seeds) {
        try $0.change($1, &$2)
      }
    }
  }

  @Test func setKeepsLaws() throws {
    try expectSound { seeds throws(LawFailure) in
      try checkLaws(from: FaultySet(), seeds: seeds) { $0.change($1, &$2) }
    }
  }

  @Test func registerKeepsLaws() throws {
    try expectSound { seeds throws(LawFailure) in
      try checkLaws(from: FaultyRegister(), seeds: seeds) {
        $0.change($1, &$2)
      }
    }
  }

  @Test func orderedRegisterKeepsLaws() throws {
    try expectSound { seeds throws(LawFailure) in
      try checkLaws(from: OrderedRegister(), seeds: seeds) {
        $0.change($1, &$2)
      }
    }
  }

  @Test func counterKeepsLaws() throws {
    try expectSound { seeds throws(LawFailure) in
      try checkLaws(from: FaultyCounter(), seeds: seeds) { $0.change($1, &$2) }
    }
  }

  @Test func listKeepsLaws() throws {
    try expectSound { seeds throws(LawFailure) in
      try checkLaws(from: FaultyList(), seeds: seeds) { $0.change($1, &$2) }
    }
  }
}
