// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@Suite(.encodes) struct RejoinArticle {
  struct Profile: Entity {
    let name = register("name", of: String.self)
    let steps = counter("steps")
  }

  @Test func landingPage() throws {
    let phone = Replica(
      device: DeviceID(1), schema: [Profile.self], wallClock: .system,
      makeDeviceID: DeviceID.random)
    let tablet = Replica(
      device: DeviceID(2), schema: [Profile.self], wallClock: .system,
      makeDeviceID: DeviceID.random)

    try phone.save { $0[Profile.self, "ada"].steps.increment(by: 1200) }
    try tablet.save { $0[Profile.self, "ada"].steps.increment(by: 800) }

    if let delta = phone.delta(since: tablet.version) { tablet.apply(delta) }
    #expect(tablet[Profile.self, "ada"]?.steps == 2000)
  }
}
