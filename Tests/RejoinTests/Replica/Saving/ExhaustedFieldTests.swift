// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

/// An `lww` field at the greatest timestamp, above which nothing can be written.
@Suite(.encodes) struct ExhaustedFieldTests {
  private let a = Replica.empty(1)
  private let stranger = DeviceID(9)
  private let place = MergeReport.Location(
    record: Sailor.ada, field: Sailor().rank.key)

  init() throws {
    var latest = Latest()
    latest.write("huge", at: Dot(stranger, 1), stamp: .max)
    let state = FieldState.lww(
      Causal(store: latest, context: CausalContext([stranger: 1])))
    try a.edit {
      $0.name = "ada"
      $0.miles.increment()
    }
    a.apply(Delta(state, of: Sailor().rank.key, in: Sailor.ada))
  }

  @Test func itDoesNotBlockADeletion() throws {
    let report = try a.edit { $0.delete() }
    #expect(report.dot != nil)
    #expect(report.retained.isEmpty)
    #expect(a.ada == nil)
  }

  @Test func aRecreationLeavesItAndSaysSo() throws {
    try a.edit { $0.delete() }
    let report = try a.edit { $0.name = "new" }
    #expect(report.retained == [place])
    #expect(a.ada?.name == "new")
    #expect(a.ada?.miles == 0)
    #expect(a.ada?.rank == "huge")
    #expect(try a.edit { $0.name = "newer" }.retained.isEmpty)
  }

  @Test func aPurgeLeavesItAndSaysSo() throws {
    try a.edit { $0.delete() }
    try a.retire(stranger)
    let report = try a.purge()
    #expect(report.dot != nil)
    #expect(report.retained == [place])
    #expect(a.record(Sailor.ada)?.value(of: "name") == nil)
    #expect(a.record(Sailor.ada)?.value(of: "rank", .lww) == "huge")
    #expect(try a.purge().dot == nil)
    #expect(throws: SaveError.purged(Sailor.ada)) {
      try a.save { $0.restore(Sailor.ada) }
    }
  }

  @Test func onlyWritingItThrows() throws {
    try a.edit { $0.delete() }
    #expect(throws: SaveError.registerExhausted(Sailor.ada, field: "rank")) {
      try a.edit { $0.rank = "mine" }
    }
  }
}
