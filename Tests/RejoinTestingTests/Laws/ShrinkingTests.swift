// SPDX-License-Identifier: Apache-2.0

@testable import RejoinTesting
import Testing

@Suite struct ShrinkingTests {
  @Test func shrinkingRemovesIrrelevantElements() {
    let shrunk = Array(0..<100).shrunk { part in
      Set(part).isSuperset(of: [7, 50, 51, 99])
    }
    #expect(shrunk == [7, 50, 51, 99])
  }

  /// Each element can be removed only after the later ones.
  @Test func shrinkingRetriesEarlierElements() {
    for count in 1...20 {
      let shrunk = Array(0..<count).shrunk { part in
        !part.isEmpty && part == Array(0..<part.count)
      }
      #expect(shrunk == [0])
    }
  }

  @Test func shrinkingKeepsIrreducibleArray() {
    #expect([1, 2, 3].shrunk { _ in false } == [1, 2, 3])
    #expect([Int]().shrunk { _ in false } == [])
  }
}
