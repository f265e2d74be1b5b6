// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

/// Saves whose body throws or returns a value.
@Suite(.encodes) struct SaveBodyTests {
  private let a = Replica.empty(1)

  private struct Refused: Error {}

  private func check(_ isValid: Bool) throws {
    if !isValid { throw Refused() }
  }

  @Test func saveReturnsValueOfBodyWithReport() throws {
    let (miles, report) = try a.save { transaction in
      transaction[Sailor.self, "ada"].miles.increment(by: 5)
      return transaction[Sailor.self, "ada"].miles.value
    }
    #expect(miles == 5)
    #expect(report.dot == Dot(a.device, 1))
  }

  @Test func throwingBodyChangesNothing() throws {
    let (version, latest) = (a.version, a.state.hybrid.latest)
    #expect(throws: Refused.self) {
      try a.save { transaction in
        transaction[Sailor.self, "ada"].name = "Ada"
        try check(false)
      }
    }
    #expect(throws: Refused.self) {
      try a.save { transaction in
        transaction[Sailor.self, "ada"].name = "Ada"
        try check(false)
        return 5
      }
    }
    #expect(a.version == version)
    #expect(a.state.hybrid.latest == latest)
    #expect(a.ada == nil)
    #expect(a.delta() == nil)
  }

  @Test func saveAcceptsBodyThatCanThrow() throws {
    let report = try a.save { transaction in
      try check(true)
      transaction[Sailor.self, "ada"].name = "Ada"
    }
    #expect(report.dot == Dot(a.device, 1))
    let (name, other) = try a.save { transaction in
      try check(true)
      transaction[Sailor.self, "ada"].ensureExists()
      return transaction[Sailor.self, "ada"].name
    }
    #expect(name == "Ada")
    #expect(other.dot == Dot(a.device, 2))
  }

  /// The test is that these functions compile with their error type.
  @Test func nonthrowingBodyKeepsTypeOfError() throws {
    func save() throws(SaveError) -> SaveReport {
      try a.save { $0[Sailor.self, "ada"].name = "Ada" }
    }
    func count() throws(SaveError) -> Int64 {
      try a.save { transaction in
        transaction[Sailor.self, "ada"].miles.increment(by: .max)
        transaction[Sailor.self, "ada"].miles.increment(by: .max)
        return transaction[Sailor.self, "ada"].miles.value
      }.value
    }
    #expect(try save().dot?.sequence == 1)
    #expect(try count() == .max)
    #expect(throws: SaveError.counterOverflow(Sailor.ada, field: "miles")) {
      try count()
    }
  }

  @Test func refusedSaveChangesNothing() throws {
    #expect(throws: SaveError.self) {
      try a.save { transaction in
        for _ in 0..<3 {
          transaction[Sailor.self, "ada"].miles.increment(by: .max)
        }
        try check(true)
      }
    }
    #expect(a.delta() == nil)
  }
}
