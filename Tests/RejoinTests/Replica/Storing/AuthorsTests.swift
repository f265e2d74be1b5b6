// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

@testable import Rejoin
import Testing

/// The authors of values, for every kind of field.
@Suite(.encodes) struct AuthorsTests {
  private let a = Replica.empty(1, wallClock: ManualClock(1000))
  private let b = Replica.empty(2, wallClock: ManualClock(2000))

  @Test func writesListConcurrentWritesOfRegister() throws {
    try a.edit { $0.name = "a" }
    try b.edit { $0.name = "b" }
    settle(a, b)
    for replica in [a, b] {
      let names = try #require(replica.ada?.writes(of: \.name))
      #expect(names.map(\.value) == ["b", "a"])
      #expect(names.map(\.dot) == [Dot(b.device, 1), Dot(a.device, 1)])
      #expect(names.map(\.time.milliseconds) == [2000, 1000])
    }
  }

  @Test func insertionsListSavesOfElement() throws {
    for replica in [a, b] {
      try replica.edit {
        $0.tags.insert("both")
        $0.roles.insert("both")
      }
    }
    try a.edit {
      $0.tags.insert("a")
      $0.roles.insert("a")
    }
    settle(a, b)
    try b.edit { $0.roles.remove("a") }
    b.tell(a)
    let tags = try #require(a.ada?.insertions(of: \.tags))
    #expect(tags.map(\.element) == ["a", "both"])
    #expect(
      tags.map(\.saves) == [
        [Dot(a.device, 2)], [Dot(a.device, 1), Dot(b.device, 1)],
      ])
    let roles = try #require(a.ada?.insertions(of: \.roles))
    #expect(roles.map(\.element) == ["both"])
    #expect(roles.map(\.saves) == [[Dot(a.device, 1), Dot(b.device, 1)]])
  }

  @Test func amountsListSumOfEachDevice() throws {
    try a.edit { $0.miles.increment(by: 5) }
    try b.edit { $0.miles.decrement(by: 2) }
    settle(a, b)
    #expect(a.ada?.amounts(of: \.miles) == [a.device: 5, b.device: -2])
    try a.edit { $0.miles.reset() }
    #expect(a.ada?.amounts(of: \.miles) == [:])
    try b.edit { $0.miles.increment(by: 4) }
    settle(a, b)
    #expect(a.ada?.amounts(of: \.miles) == [b.device: 4])
    #expect(a.ada?.miles == 4)
  }

  @Test func sumsBeyondInt64AreExact() throws {
    try a.edit { $0.miles.increment(by: .max) }
    try a.edit { $0.miles.increment(by: .max) }
    #expect(
      a.ada?.amounts(of: \.miles) == [
        a.device: WideInt(Int64.max) + WideInt(Int64.max)
      ])
  }

  @Test func entriesKeepTheirDevice() throws {
    try b.edit { $0.pay.append(7, memo: "late") }
    try a.edit { $0.pay.append(5, memo: "early") }
    settle(a, b)
    let entries = try #require(b.ada?.entries(of: \.pay))
    #expect(entries.map(\.amount) == [5, 7])
    #expect(entries.map(\.memo) == ["early", "late"])
    #expect(entries.map(\.dot) == [Dot(a.device, 1), Dot(b.device, 1)])
    #expect(entries.map(\.time.milliseconds) == [1000, 2000])
  }
}
