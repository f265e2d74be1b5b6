// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

private let phone = DeviceID(1)
private let tablet = DeviceID(2)

private struct Write {
  let value: String?
  let time: Timestamp
}

private typealias Scripts = SeenHistory<LWWRegister<String>, Write>

extension Known<Write> {
  /// The write with the greatest timestamp, and then the greatest device.
  fileprivate var last: Deed<Write>? {
    deeds.max { ($0.act.time, $0.device) < ($1.act.time, $1.device) }
  }

  /// Returns the timestamp that makes a write at `time` win for its author.
  fileprivate func stamp(_ time: Timestamp) -> Timestamp {
    guard let last else { return time }
    return max(time, Timestamp(rawValue: last.act.time.rawValue + 1))
  }
}

@Suite(.encodes) struct LWWRegisterTests {
  @Test func registerShowsGreatestWrite() {
    let rules = Scripts.Rules(
      initial: LWWRegister(),
      act: { register, device, known, random in
        let value =
          random.number(below: 6) == 0 ? nil : "w\(random.number(below: 1000))"
        let time = random.timestamp()
        let delta = try register.write(value, on: device, at: time)
        return (Write(value: value, time: known.stamp(time)), delta)
      },
      complaint: { register, known in
        register.value == known.last?.act.value
          && register.author == known.last?.device
          ? nil : "shows \(register.value as Any)"
      })
    #expect(Scripts.complaints(rules, seeds: 0..<400) == [])
  }

  @Test func laterWriteWinsDespiteEarlierTime() throws {
    var theme = LWWRegister<String>()
    try theme.write("dark", on: tablet, at: Timestamp(milliseconds: 5))
    try theme.write("light", on: phone, at: Timestamp(milliseconds: 1))
    #expect(theme.value == "light")
    #expect(theme.author == phone)
  }

  @Test func greaterDeviceWinsAtEqualTimes() throws {
    var mine = LWWRegister<String>()
    var theirs = LWWRegister<String>()
    try mine.write("z", on: phone, at: .zero)
    try theirs.write("a", on: tablet, at: .zero)
    #expect(mine.merging(theirs).value == "a")
    #expect(theirs.merging(mine).value == "a")
  }

  @Test func writeAboveMaximumThrowsWithoutChange() throws {
    var theme = LWWRegister<String>()
    try theme.write("dark", on: phone, at: .max)
    let before = theme
    #expect(throws: LWWRegister<String>.Exhausted()) {
      try theme.write("light", on: phone, at: .max)
    }
    #expect(throws: LWWRegister<String>.Exhausted()) {
      try theme.write("light", on: tablet, at: .zero)
    }
    #expect(theme == before)
    #expect("\(LWWRegister<String>.Exhausted())".contains("new register"))
  }

  @Test func unsettingReplacesEarlierWrite() throws {
    var theme = LWWRegister<String>()
    try theme.write("dark", on: phone, at: Timestamp(milliseconds: 5))
    let before = theme
    try theme.write(nil, on: phone, at: .zero)
    #expect(theme.value == nil)
    #expect(theme.author == phone)
    #expect(theme.merging(before).value == nil)
  }
}
