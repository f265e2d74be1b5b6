// SPDX-License-Identifier: Apache-2.0

import Rejoin

struct Profile: Entity {
  let name = register("name", of: String.self)
  let steps = counter("steps")
  let tags = set("tags", of: String.self)
}

// For when a backup is restored, or a device's files are copied.
func newDeviceID() -> DeviceID {
  var random = SystemRandomNumberGenerator()
  return .random(using: &random)
}

func readmeExample(clock: WallClock) throws -> [String] {
  let phone = Replica(
    device: .init(1), schema: [Profile.self], wallClock: clock,
    makeDeviceID: newDeviceID)
  let tablet = Replica(
    device: .init(2), schema: [Profile.self], wallClock: clock,
    makeDeviceID: newDeviceID)
  var printed: [String] = []

  // Both are offline.
  try phone.save { transaction in
    transaction[Profile.self, "ada"].name = "Ada"
    transaction[Profile.self, "ada"].steps.increment(by: 1200)
  }
  try tablet.save { transaction in
    transaction[Profile.self, "ada"].name = "Ada L."
    transaction[Profile.self, "ada"].steps.increment(by: 800)
    transaction[Profile.self, "ada"].tags.insert("runner")
  }

  // They meet, in any order, by any way, as often as you like.
  if let delta = phone.delta(since: tablet.version) {
    let bytes = delta.encoded()  // … travel …
    tablet.apply(try Delta(decoding: bytes))
  }
  if let delta = tablet.delta(since: phone.version) { phone.apply(delta) }

  if let ada = phone[Profile.self, "ada"] {
    printed.append("\(ada.steps) \(ada.tags) \(ada.name ?? "")")
    printed.append("also written: \(ada.conflicts(\.name))")
  }
  printed.append("equal bytes: \(phone.encoded() == tablet.encoded())")
  return printed
}
