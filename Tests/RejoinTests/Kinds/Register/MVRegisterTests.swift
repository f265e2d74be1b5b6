// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

private let phone = DeviceID(1)
private let tablet = DeviceID(2)
private let watch = DeviceID(3)

private func at(_ milliseconds: Int64) -> Timestamp {
  Timestamp(milliseconds: milliseconds)
}

@Suite(.encodes) struct MVRegisterTests {
  @Test func documentationExampleHolds() {
    var title = MVRegister<String>()
    title.write("Draft", on: phone, at: at(1))
    var copy = title
    title.write("Plan", on: phone, at: at(2))
    copy.write("Sketch", on: tablet, at: at(3))
    title.merge(copy)
    #expect(title.value == "Sketch")
    #expect(title.conflicts == ["Plan"])
    #expect(title.author == tablet)
  }

  @Test func laterWriteWinsDespiteEarlierTime() {
    var register = MVRegister<String>()
    register.write("ahead", on: phone, at: .max)
    register.write("after", on: tablet, at: .zero)
    #expect(register.value == "after")
    #expect(register.conflicts.isEmpty)
    register.write("mine", on: tablet, at: .zero)
    #expect(register.value == "mine")
  }

  @Test func greaterDeviceWinsAtEqualTimes() {
    var mine = MVRegister<String>()
    var theirs = MVRegister<String>()
    mine.write("z", on: phone, at: at(1))
    theirs.write("a", on: tablet, at: at(1))
    #expect(mine.merging(theirs).value == "a")
    #expect(theirs.merging(mine).value == "a")
  }

  /// The order "clock, then time, then device" is cyclic for these writes.
  @Test func arrivalOrderDoesNotChangeWinner() {
    var a = MVRegister<String>()
    a.write("first", on: phone, at: at(30))
    var b = a
    b.write("second", on: tablet, at: at(10))
    var c = MVRegister<String>()
    c.write("third", on: watch, at: at(20))
    for order in [[a, b, c], [b, c, a], [c, a, b], [c, b, a]] {
      let all = order.reduce(MVRegister()) { $0.merging($1) }
      #expect(all.value == "third")
      #expect(all.conflicts == ["second"])
    }
  }

  @Test func registerDistinguishesUnsetNullAndValue() {
    var register = MVRegister<Value>()
    #expect(register.value == nil)
    register.write(.null, on: phone, at: at(1))
    #expect(register.value == .null)
    register.write("text", on: phone, at: at(2))
    #expect(register.value == "text")
    register.write(nil, on: phone, at: at(3))
    #expect(register.value == nil)
    #expect(register.author == phone)
  }

  @Test func conflictsAreDistinctAndExcludeShownValue() {
    var all = MVRegister<String>()
    for (n, word) in ["b", "a", "b", "a", "z"].enumerated() {
      var other = MVRegister<String>()
      other.write(word, on: DeviceID(UInt64(n)), at: at(1))
      all.merge(other)
    }
    #expect(all.value == "z")
    #expect(all.conflicts == ["a", "b"])
    var echo = MVRegister<String>()
    echo.write("z", on: DeviceID(9), at: at(0))
    #expect(all.merging(echo).conflicts == ["a", "b"])
  }

  @Test func observedWriteKeepsUnobservedSiblings() {
    var register = MVRegister<String>()
    register.write("base", on: phone, at: at(1))
    let observed = register.clock
    var other = register
    other.write("theirs", on: tablet, at: at(9))
    register.merge(other)
    register.write("mine", on: phone, at: at(2), observed: observed)
    #expect(register.value == "mine")
    #expect(register.conflicts == ["theirs"])
  }

  @Test func deltaContainsOnlyOwnWrite() {
    var register = MVRegister<String>()
    register.write("theirs", on: tablet, at: at(1))
    let delta = register.write("mine", on: phone, at: at(2), observed: [:])
    #expect(register.conflicts == ["theirs"])
    #expect(delta.value == "mine")
    #expect(delta.conflicts.isEmpty)
    #expect(delta.clock == [phone: 1])
  }

  @Test func observedWriteIsOneTickLaterThanSibling() {
    var register = MVRegister<String>()
    register.write("theirs", on: tablet, at: at(9))
    register.write("mine", on: phone, at: at(2), observed: [:])
    var between = MVRegister<String>()
    between.write("later", on: watch, at: at(9).next!)
    #expect(register.value == "mine")
    #expect(register.merging(between).value == "later")
  }

  @Test func winningObservedWriteKeepsItsTime() {
    var register = MVRegister<String>()
    register.write("theirs", on: phone, at: at(9))
    register.write("mine", on: tablet, at: at(9), observed: [:])
    var same = MVRegister<String>()
    same.write("rival", on: watch, at: at(9))
    #expect(register.value == "mine")
    #expect(register.merging(same).value == "rival")
  }

  @Test func writeAtMaximumTimeSupersedesOutrankingSibling() {
    var register = MVRegister<String>()
    register.write("max", on: watch, at: .max)
    var low = MVRegister<String>()
    low.write("low", on: phone, at: at(1))
    register.merge(low)
    register.write("mine", on: tablet, at: at(2), observed: [:])
    #expect(register.value == "mine")
    #expect(register.conflicts == ["low"])
  }

  /// The write outranks the sibling by its device.
  @Test func writeAtMaximumTimeKeepsOutrankedSibling() {
    var register = MVRegister<String>()
    register.write("watch", on: watch, at: .max)
    var other = MVRegister<String>()
    other.write("phone", on: phone, at: .max)
    register.merge(other)
    register.write("mine", on: tablet, at: at(2), observed: [:])
    #expect(register.value == "mine")
    #expect(register.conflicts == ["phone"])
  }

  /// A delta leaves a gap if it arrives before an earlier delta.
  @Test func plainWriteSupersedesSiblingBeyondGap() {
    var author = MVRegister<String>()
    author.write("one", on: phone, at: at(1))
    author.write("two", on: phone, at: at(2))
    let late = author.write("three", on: phone, at: at(3))
    var reader = MVRegister<String>()
    reader.merge(late)
    #expect(reader.value == "three")
    reader.write("four", on: tablet, at: at(4))
    #expect(reader.value == "four")
    #expect(reader.conflicts.isEmpty)
    reader.merge(author)
    #expect(reader.conflicts.isEmpty)
  }

  @Test func equalityComparesBytes() {
    var mine = MVRegister<String>()
    var theirs = MVRegister<String>()
    mine.write("\u{e9}", on: phone, at: at(1))
    theirs.write("e\u{301}", on: phone, at: at(1))
    #expect(mine != theirs)
    var third = MVRegister<String>()
    third.write("\u{e9}", on: tablet, at: at(1))
    #expect(
      theirs.merging(third).conflicts.map { $0.map { Array($0.utf8) } }
        == [Array("e\u{301}".utf8)])
  }
}
