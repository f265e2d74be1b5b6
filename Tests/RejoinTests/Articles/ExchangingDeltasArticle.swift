// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@Suite(.encodes) struct ExchangingDeltasArticle {
  private let phone = Replica.ofArticle(1, [Profile.self])
  private let tablet = Replica.ofArticle(2, [Profile.self])
  private let laptop = Replica.ofArticle(3, [Profile.self])

  @Test func article() throws {
    try phone.save { $0[Profile.self, "ada"].name = "Ada" }
    try tablet.save { $0[Profile.self, "ada"].steps.increment(by: 800) }

    while let delta = phone.delta(since: tablet.version, byteLimit: 256_000) {
      guard tablet.apply(delta).hasAdvanced else { break }
    }
    #expect(tablet[Profile.self, "ada"]?.name == "Ada")

    try phone.save { $0[Profile.self, "ada"].tags.insert("sailor") }

    let asked = tablet.version.encoded()  // tablet → phone
    let version = try ReplicaVersion(decoding: asked)
    if let delta = phone.delta(since: version) {
      let answer = delta.encoded()  // phone → tablet
      let report = tablet.apply(try Delta(decoding: answer))
      #expect(!report.hasFaults)
    }
    #expect(tablet[Profile.self, "ada"]?.tags == ["sailor"])

    if let delta = tablet.delta(since: phone.version) {
      phone.apply(delta)
      phone.apply(delta)
    }
    #expect(phone[Profile.self, "ada"]?.steps == 800)
    #expect(phone.delta() == tablet.delta())

    for name in ["ada", "grace", "joan"] {
      try phone.save { $0[Profile.self, name].tags.insert("swimmer") }
    }
    // At least one record, whatever the limit
    if let part = phone.delta(since: tablet.version, byteLimit: 1) {
      tablet.apply(part)
    }
    #expect(tablet[Profile.self, "ada"]?.tags == ["sailor", "swimmer"])
    #expect(tablet.version.vectorClock[phone.device] == 2)
    #expect(tablet.version.prefixes[0].through == RecordID("Profile", "ada"))
    #expect(tablet.version.prefixes[0].vectorClock == [phone.device: 5])
    #expect(tablet.latestMissingSaves == [phone.device: 5])

    laptop.merge(phone)
    while let delta = laptop.delta(since: tablet.version, byteLimit: 1) {
      guard tablet.apply(delta).hasAdvanced else { break }
    }
    #expect(tablet.version.vectorClock == phone.version.vectorClock)
    #expect(tablet.latestMissingSaves.isEmpty)

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
    #expect(fragment?.basis == [phone.device: 6])

    phone.recordVersion(version, of: tablet.device)
  }
}
