// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import Testing

@Suite(.encodes) struct READMEArticle {
  @Test func resultsAreThoseOfTheReadme() throws {
    // On the phone
    let phone = Replica(
      device: .random(), schema: [Profile.self], wallClock: .system,
      makeDeviceID: DeviceID.random)

    try phone.save { transaction in
      let ada = transaction[Profile.self, "ada"]
      ada.name = "Ada"
      ada.steps.increment(by: 1200)
    }

    // On the tablet, offline at the same time
    let tablet = Replica(
      device: .random(), schema: [Profile.self], wallClock: .system,
      makeDeviceID: DeviceID.random)

    // The later write is shown: one of the next millisecond.
    Thread.sleep(forTimeInterval: 0.01)
    try tablet.save { transaction in
      let ada = transaction[Profile.self, "ada"]
      ada.name = "Ada L."
      ada.steps.increment(by: 800)
      ada.tags.insert("runner")
    }

    // When they meet: in any order, by any route, as often as you like
    if let delta = phone.delta(since: tablet.version) {
      let bytes = delta.encoded()  // … travel …
      tablet.apply(try Delta(decoding: bytes))
    }
    if let delta = tablet.delta(since: phone.version) { phone.apply(delta) }

    let ada = phone[Profile.self, "ada"]
    #expect(ada?.steps == 2000)
    #expect(ada?.tags == ["runner"])
    #expect(ada?.name == "Ada L.")
    #expect(ada?.conflicts(\.name) == ["Ada"])
    #expect(phone.encoded() == tablet.encoded())
  }
}
