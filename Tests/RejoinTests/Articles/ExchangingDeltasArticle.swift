// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@Suite(.encodes) struct ExchangingDeltasArticle {
  private let phone = Replica.ofArticle(1, [Profile.self])
  private let tablet = Replica.ofArticle(2, [Profile.self])

  @Test func article() throws {
    try phone.save { $0[Profile.self, "ada"].name = "Ada" }
    try tablet.save { $0[Profile.self, "ada"].steps.increment(by: 800) }

    let asked = tablet.version.encoded()  // tablet → phone
    let version = try ReplicaVersion(decoding: asked)
    if let delta = phone.delta(since: version) {
      let answer = delta.encoded()  // phone → tablet
      let report = tablet.apply(try Delta(decoding: answer))
      #expect(!report.hasFaults)
    }
    #expect(tablet[Profile.self, "ada"]?.name == "Ada")

    if let delta = tablet.delta(since: phone.version) {
      phone.apply(delta)
      phone.apply(delta)
    }
    #expect(phone[Profile.self, "ada"]?.steps == 800)
    #expect(phone.encoded() == tablet.encoded())

    for name in ["ada", "grace", "joan"] {
      try phone.save { $0[Profile.self, name].tags.insert("sailor") }
    }
    let parts = phone.delta(since: tablet.version)?.split(into: 3) ?? []
    for part in parts.dropLast() { tablet.apply(part) }  // the last one is lost
    #expect(tablet[Profile.self, "grace"]?.tags == ["sailor"])
    #expect(tablet.latestMissingSaves == [phone.device: 3])

    while let delta = phone.delta(since: tablet.version) { tablet.apply(delta) }
    #expect(tablet.latestMissingSaves.isEmpty)
    #expect(tablet.version.vectorClock == phone.version.vectorClock)

    try phone.save { transaction in
      for i in 1...100 {
        transaction[Profile.self, "ada"].tags.insert("tag \(i)")
      }
    }
    if let delta = phone.delta(since: tablet.version) { tablet.apply(delta) }

    try phone.save { $0[Profile.self, "ada"].tags.insert("new") }
    let small = phone.delta(since: tablet.version)
    let fragment = small?.changes[0].fragments[FieldKey("tags", .set)]
    #expect(fragment?.state.elements == ["new"])
    #expect(fragment?.basis == [phone.device: 5])

    phone.recordVersion(version, of: tablet.device)
  }
}
