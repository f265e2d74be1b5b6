import Rejoin
import Testing

private enum Profile: Entity {
  static let name = register("name", of: String.self)
  static let steps = counter("steps")
  static let tags = set("tags", of: String.self)
}

@Suite struct HouseExampleTests {
  @Test func twoDevicesEditTheSameRecord() throws {
    let clock = WallClock { 1000 }
    let phone = Replica(device: .init(1), schema: [Profile.self], clock: clock)
    let tablet = Replica(device: .init(2), schema: [Profile.self], clock: clock)
    try phone.save { edit in
      edit[Profile.self, "ada"].name = "Ada"
      edit[Profile.self, "ada"].steps.increment(by: 1200)
    }
    try tablet.save { edit in
      edit[Profile.self, "ada"].steps.increment(by: 800)
      edit[Profile.self, "ada"].tags.insert("runner")
    }
    if let delta = phone.delta(since: tablet.clock) { tablet.apply(delta) }
    if let delta = tablet.delta(since: phone.clock) { phone.apply(delta) }
    #expect(phone[Profile.self, "ada"]?.steps == 2000)
    #expect(phone[Profile.self, "ada"]?.name == "Ada")
    #expect(tablet[Profile.self, "ada"]?.tags == ["runner"])
    #expect(phone.clock == tablet.clock)
    #expect(phone.delta(since: tablet.clock) == nil)
  }
}
