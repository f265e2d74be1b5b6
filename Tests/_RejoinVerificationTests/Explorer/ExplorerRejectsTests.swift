// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification
import Testing

@Suite struct ExplorerRejectsTests {
  @Test func explorerRejectsUnreportedGaps() throws {
    try reject(SpoiledReplica<ForgottenGaps>.self, steps: 7)
  }

  @Test func explorerRejectsDeltaClocksTakenAsReceived() throws {
    try reject(SpoiledReplica<ClaimedClocks>.self, steps: 7)
  }

  @Test func explorerRejectsWrongWinners() throws {
    try reject(SpoiledReplica<WrongWinners>.self, steps: 4)
  }

  @Test func explorerRejectsLostParts() throws {
    try reject(SpoiledReplica<LostParts>.self, steps: 4)
  }

  @Test func explorerAcceptsUnspoiledReplica() throws {
    var explorer = Explorer<SpoiledReplica<Nothing>>(Self.program)
    let counts = try explorer.search()
    #expect(counts.isComplete)
  }

  /// One device saves twice, another one saves once, and one message arrives
  /// late.
  private static let program: ExplorerProgram = {
    var program = ExplorerProgram.registers
    program.savers = [[0], [0], [1]]
    program.times = [0]
    return program
  }()

  private func reject<Replica: TestedReplica>(
    _ broken: Replica.Type, steps: Int
  ) throws {
    var explorer = Explorer<Replica>(Self.program)
    let violation = #expect(throws: ExplorerViolation.self) {
      try explorer.search()
    }
    let found = try #require(violation)
    #expect(found.script.steps.count <= steps, "\(found)")
    if broken != SpoiledReplica<LostParts>.self {
      #expect(found.reproduced(with: broken) != nil, "\(found)")
    }
  }
}
