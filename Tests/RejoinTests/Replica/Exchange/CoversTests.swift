// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import Rejoin

/// Comparisons of versions with `covers(_:)`.
@Suite(.encodes) struct CoversTests {
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)

  @Test func coversComparesSaves() throws {
    #expect(a.version.covers(b.version))
    try b.edit { $0.name = "Ada" }
    #expect(!a.version.covers(b.version) && b.version.covers(a.version))
    b.tell(a)
    #expect(a.version.covers(b.version))
    try a.edit { $0.name = "Ada L." }
    #expect(a.version.covers(b.version) && !b.version.covers(a.version))
  }

  /// A device that is lost in the middle of a transfer leaves a prefix with one
  /// other device.
  @Test func coversIgnoresPrefixes() throws {
    let c = Replica.empty(3)
    for i in 0..<20 {
      try b.save { $0[Sailor.self, "sailor \(10 + i)"].name = "name \(i)" }
    }
    let part = try #require(b.delta(since: a.version, byteLimit: 200))
    a.apply(part)
    #expect(!a.version.covers(b.version) && b.version.covers(a.version))
    #expect(c.version.covers(a.version))
    #expect(!c.version.continues(a.version))
    b.tell(c)
    #expect(c.version.continues(a.version))
  }

  @Test func coversIgnoresFieldsAhead() throws {
    try b.edit { $0.name = "Ada" }
    try b.edit { $0.miles.increment() }
    let halves = try #require(b.delta()).split(into: 2)
    a.apply(halves[0])
    #expect(Replica.empty(3).version.covers(a.version))
    #expect(b.version.covers(a.version) && !a.version.covers(b.version))
  }

  @Test func coversComparesHistories() throws {
    let clone = Replica.empty(2)
    try b.edit { $0.name = "Ada" }
    try clone.edit { $0.name = "Grace" }
    #expect(!b.version.covers(clone.version))
    b.tell(a)
    clone.tell(a)
    // Only the exchange of all its saves repairs the forked device.
    #expect(!b.version.covers(a.version))
    #expect(a.version.covers(a.version))
  }
}
