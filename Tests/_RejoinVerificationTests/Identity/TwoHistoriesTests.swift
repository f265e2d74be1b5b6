// SPDX-License-Identifier: Apache-2.0

import _RejoinVerification
import Testing

@Suite struct TwoHistoriesTests {
  init() throws { try Premises.check() }

  /// An undetected clone rarely does more harm than the reports show.
  ///
  /// A model predicts that 3 histories of 1,500 may end in different states.
  @Test(arguments: [false, true])
  func undetectedCloneIsReported(isRelayed: Bool) throws {
    var (different, unseen) = (0, 0)
    for seed in 0..<1500 as Range<UInt64> {
      var history = TwoHistories(seed: seed, clones: 1, isRelayed: isRelayed)
      do { different += try history.run() ? 0 : 1 } catch {
        Issue.record("seed \(seed): \(error)")
      }
      unseen += history.alarms == 0 ? 1 : 0
    }
    let way = isRelayed ? "through a relay" : "direct"
    print(
      "two histories, \(way): \(different) of 1500 end in different states, "
        + "\(unseen) without a report")
    #expect(different <= 3)
    // Many histories have no clone, or no save after the clone.
    #expect(unseen < 1000)
  }

  @Test(arguments: [false, true])
  func historyWithoutCloneRaisesNoAlarm(isRelayed: Bool) throws {
    var alarms = 0
    for seed in 0..<3000 as Range<UInt64> {
      var history = TwoHistories(seed: seed, clones: 0, isRelayed: isRelayed)
      do { #expect(try history.run(), "seed \(seed)") } catch {
        Issue.record("seed \(seed): \(error)")
      }
      alarms += history.alarms
    }
    print("one history each, 3000 times: \(alarms) false alarms")
    #expect(alarms == 0)
  }
}
