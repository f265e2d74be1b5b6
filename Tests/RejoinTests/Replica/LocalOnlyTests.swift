//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

@testable import Rejoin
import Testing

@Suite struct LocalOnlyTests {
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)

  @Test func aLocalRecordTakesADotAndDoesNotTravel() throws {
    let dot = try a.save { $0[Draft.self, "d"].text = "mine" }.dot
    #expect(dot == Dot(a.device, 1))
    #expect(a[Draft.self, "d"]?.text == "mine")
    let delta = try #require(a.delta())
    #expect(delta.changes.isEmpty)
    #expect(delta.intervals[a.device]?.to.n == 1)
    a.tell(b)
    #expect(b.record(RecordID("Draft", "d")) == nil)
    #expect(areEqual(a, b))
    #expect(a.delta(since: b.clock) == nil)
  }

  @Test func theRestOfTheSaveTravels() throws {
    try a.save { edit in
      edit[Draft.self, "d"].text = "mine"
      edit[Sailor.self, "ada"].name = "Ada"
    }
    let delta = try #require(a.delta())
    #expect(delta.changes.map(\.id) == [Sailor.ada])
    #expect(
      delta.split(into: 2).flatMap(\.changes).allSatisfy {
        $0.id == Sailor.ada
      })
    a.tell(b)
    #expect(b.ada?.name == "Ada")
    #expect(areEqual(a, b))
  }

  @Test func aBackupKeepsLocalRecords() throws {
    try a.save { $0[Draft.self, "d"].text = "mine" }
    let opened = Replica.opening(a.state, token: a.token, as: 7)
    #expect(opened[Draft.self, "d"]?.text == "mine")
  }
}
