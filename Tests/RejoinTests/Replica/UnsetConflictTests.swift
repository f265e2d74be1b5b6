// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import Rejoin

/// A write that unset a field and lost to a concurrent one.
@Suite(.encodes) struct UnsetConflictTests {
  private let a = Replica.empty(1, wallClock: ManualClock(1_000))
  private let b = Replica.empty(2, wallClock: ManualClock(2_000_000))

  /// Both devices hold the name, and one of them unsets it.
  private func unset(
    on one: Replica, _ value: String, on other: Replica
  ) throws {
    try a.edit { $0.name = "old" }
    settle(a, b)
    try one.edit { $0.name = nil }
    try other.edit { $0.name = value }
    settle(a, b)
  }

  @Test func conflictsListConcurrentUnset() throws {
    try unset(on: a, "new", on: b)
    for replica in [a, b] {
      #expect(replica.ada?.name == "new")
      #expect(replica.ada?.conflictingValues(of: \.name) == [nil])
      #expect(
        replica.record(Sailor.ada)?.conflictingValues(
          of: FieldKey("name", .register)) == [nil])
      #expect(
        replica.conflictedFields(of: "Sailor").map(\.field.name) == ["name"])
    }
    try a.edit { $0.name = "settled" }
    #expect(a.ada?.conflictingValues(of: \.name) == [])
  }

  @Test func conflictsListValueThatLostToUnset() throws {
    try unset(on: b, "lost", on: a)
    #expect(a.ada?.name == nil)
    #expect(a.ada?.conflictingValues(of: \.name) == ["lost"])
  }

  @Test func concurrentUnsetsDoNotConflict() throws {
    try a.edit { $0.name = "old" }
    settle(a, b)
    for replica in [a, b] { try replica.edit { $0.name = nil } }
    settle(a, b)
    #expect(a.ada?.conflictingValues(of: \.name) == [])
    #expect(a.conflictedFields(of: "Sailor").isEmpty)
  }

  @Test func registerListsConcurrentUnset() {
    var title = MVRegister<String>()
    title.write("Draft", on: DeviceID(1), at: Timestamp(milliseconds: 1))
    var copy = title
    title.write(nil, on: DeviceID(1), at: Timestamp(milliseconds: 2))
    copy.write("Plan", on: DeviceID(2), at: Timestamp(milliseconds: 3))
    title.merge(copy)
    #expect(title.value == "Plan" && title.conflicts == [nil])
  }
}
