// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

private let phone = DeviceID(1)
private let tablet = DeviceID(2)

private typealias Scripts = SeenHistory<ORSet<String>, SetAct>

/// An insertion or a removal of an element.
struct SetAct {
  let element: String
  let isAdded: Bool
}

extension Known<SetAct> {
  /// The elements with an addition that no known removal had seen.
  fileprivate var elements: [String] {
    let removals = deeds.filter { !$0.act.isAdded }
    let standing = deeds.filter { deed in
      deed.act.isAdded
        && !removals.contains {
          $0.act.element == deed.act.element && $0.seen.contains(deed.number)
        }
    }
    return Set(standing.map(\.act.element)).sorted()
  }
}

@Suite(.encodes) struct ORSetTests {
  @Test func removalsRemoveObservedInsertions() {
    let rules = Scripts.Rules(
      initial: ORSet(),
      act: { set, device, _, random in
        let act = SetAct(
          element: random.pick(["a", "b", "c"]),
          isAdded: random.number(below: 5) > 1)
        let delta =
          act.isAdded
          ? set.insert(act.element, on: device)
          : set.remove(act.element, on: device)
        return (act, delta)
      },
      complaint: { set, known in
        set.elements == known.elements && set.count == known.elements.count
          ? nil : "\(set.elements), not \(known.elements)"
      })
    #expect(Scripts.complaints(rules, seeds: 0..<400) == [])
  }

  @Test func documentationExampleHolds() {
    var tags = ORSet<String>()
    tags.insert("runner", on: phone)
    var copy = tags
    tags.remove("runner", on: phone)
    copy.insert("runner", on: tablet)
    tags.merge(copy)
    #expect(tags.elements == ["runner"])
    #expect(tags.contains("runner"))
  }

  @Test func removalLeavesOnlyItsDot() {
    var tags = ORSet<String>()
    tags.insert("runner", on: phone)
    let before = tags
    tags.remove("runner", on: tablet)
    #expect(tags.isEmpty)
    #expect(tags.count == 0)
    #expect(tags.clock == [phone: 1, tablet: 1])
    tags.merge(before)
    #expect(tags.isEmpty)
  }

  @Test func removingAbsentElementTakesDot() {
    var tags = ORSet<String>()
    tags.remove("runner", on: phone)
    #expect(tags.clock == [phone: 1])
    #expect(tags.isEmpty)
  }

  @Test func elementOnBothSidesLosesSeenDots() {
    var mine = ORSet<String>()
    mine.insert("a", on: phone)
    var theirs = ORSet<String>()
    theirs.insert("a", on: tablet)
    mine.merge(theirs)
    theirs.remove("a", on: tablet)
    theirs.insert("a", on: DeviceID(3))
    mine.merge(theirs)
    var removal = theirs
    removal.remove("a", on: DeviceID(3))
    mine.merge(removal)
    #expect(mine.elements == ["a"])
    var last = mine
    last.remove("a", on: tablet)
    #expect(mine.merging(last).isEmpty)
  }

  @Test func elementsDifferByBytes() {
    var words = ORSet<String>()
    words.insert("\u{e9}", on: phone)
    words.insert("e\u{301}", on: phone)
    #expect(words.count == 2)
    #expect(
      words.elements.map { Array($0.utf8) }
        == [Array("e\u{301}".utf8), Array("\u{e9}".utf8)])
    words.remove("\u{e9}", on: phone)
    #expect(words.contains("e\u{301}"))
    #expect(!words.contains("\u{e9}"))
  }

  @Test func signedZerosAndNaNsAreEqualElements() {
    var numbers = ORSet<Double>()
    numbers.insert(0, on: phone)
    numbers.insert(-0.0, on: phone)
    numbers.insert(.nan, on: phone)
    numbers.insert(-Double.nan, on: phone)
    #expect(numbers.count == 2)
    numbers.remove(.signalingNaN, on: phone)
    #expect(numbers.elements == [0])
  }
}
