// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification
import Testing

@Suite struct ExplorerTests {
  @Test func everyConfigurationMatchesOracle() async throws {
    let programs =
      Tier.isNightly ? ExplorerProgram.nightly : ExplorerProgram.quick
    let start = ContinuousClock.now
    let counts = try await explore(programs)
    print("explorer: \(counts); \(ContinuousClock.now - start)")
    #expect(counts.isComplete)
    #expect(counts.configurations >= (Tier.isNightly ? 10_000_000 : 1_000_000))
    #expect(counts.gaps > 0 && counts.split > 0 && counts.relayed > 0)
  }

  /// Explores the programs, one on each core, and adds up their counts.
  private func explore(
    _ programs: [ExplorerProgram]
  ) async throws -> ExplorerCounts {
    try await withThrowingTaskGroup(of: ExplorerCounts.self) { group in
      for program in programs {
        group.addTask {
          var explorer = Explorer<ReplicaUnderTest>(program)
          return try explorer.search()
        }
      }
      return try await group.reduce(into: ExplorerCounts()) { $0 += $1 }
    }
  }

  @Test func menuEditsFieldsOfEveryKind() {
    var kinds: Set<FieldKind> = []
    for save in ExplorerProgram.menu.flatMap(\.saves) {
      guard case .verbs(let verbs) = save else { continue }
      for case .edit(_, _, let edit) in verbs { kinds.insert(edit.kind) }
    }
    #expect(kinds == Set(FieldKind.allCases))
  }

  @Test func limitStopsSearch() throws {
    var explorer = Explorer<ReplicaUnderTest>(.registers)
    let counts = try explorer.search(atMost: 100)
    #expect(counts.configurations == 100)
    #expect(!counts.isComplete)
  }
}
