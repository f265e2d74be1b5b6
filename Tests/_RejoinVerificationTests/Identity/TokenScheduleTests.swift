// SPDX-License-Identifier: Apache-2.0

import _RejoinVerification
import Testing

/// A state after a crash keeps its device ID, and no dot is sent with two
/// contents.
@Suite struct TokenScheduleTests {
  init() throws { try Premises.check() }

  @Test(arguments: [false, true])
  func tokensPreventReusedNamesAndNeedlessDevices(isWatched: Bool) throws {
    var schedules = try TokenSchedules(isWatched: isWatched)
    schedules.depth = Tier.isNightly ? 14 : 11
    try schedules.search()
    let counts = schedules.counts
    print("tokens, \(isWatched ? "with a peer" : "alone"): \(counts)")
    #expect(counts.doubled == 0)
    #expect(counts.needless == 0)
    #expect(counts.missed == 0)
    #expect(counts.renewals > 0)
    #expect(counts.configurations >= 100_000)
  }

  /// The search finds mistakes of callers.
  @Test func mistakesAreFound() throws {
    func counts(
      of mistake: TokenSchedules.Mistake, isWatched: Bool = false
    ) throws -> TokenSchedules.Counts {
      var schedules = try TokenSchedules(isWatched: isWatched)
      (schedules.mistake, schedules.depth) = (mistake, 9)
      try schedules.search()
      return schedules.counts
    }
    #expect(try counts(of: .equality).needless > 0)
    #expect(try counts(of: .sendsFirst).doubled > 0)
    #expect(try counts(of: .sendsFirst).missed > 0)
  }
}
