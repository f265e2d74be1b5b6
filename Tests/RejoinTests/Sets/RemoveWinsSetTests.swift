// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

private let phone = DeviceID(1)
private let tablet = DeviceID(2)

private typealias Scripts = SeenHistory<RemoveWinsSet<String>, SetAct>

extension Known<SetAct> {
  /// The elements whose maximal operations, those that no other operation on the
  /// element had seen, are all insertions.
  fileprivate var members: [String] {
    Set(deeds.map(\.act.element)).filter { element in
      unseen { $0.act.element == element }.allSatisfy(\.act.isAdded)
    }.sorted()
  }
}

@Suite(.encodes) struct RemoveWinsSetTests {
  @Test func oneUnseenRemovalIsEnough() {
    let rules = Scripts.Rules(
      initial: RemoveWinsSet(),
      act: { set, device, _, random in
        let act = SetAct(
          element: random.pick(["a", "b", "c"]), isAdded: random.below(5) > 1)
        let delta =
          act.isAdded
          ? set.insert(act.element, by: device)
          : set.remove(act.element, by: device)
        return (act, delta)
      },
      complaint: { set, known in
        set.elements == known.members
          ? nil : "\(set.elements), not \(known.members)"
      })
    #expect(Scripts.complaints(rules, seeds: 0..<400) == [])
  }

  @Test func theExampleInTheDocumentation() {
    var members = RemoveWinsSet<String>()
    members.insert("eve", by: phone)
    var copy = members
    members.remove("eve", by: phone)
    copy.insert("eve", by: tablet)
    members.merge(copy)
    #expect(members.elements == [])
    #expect(!members.contains("eve"))
  }

  @Test func anAdditionThatHadSeenTheRemovalCounts() {
    var members = RemoveWinsSet<String>()
    members.remove("eve", by: phone)
    members.insert("eve", by: tablet)
    #expect(members.elements == ["eve"])
    #expect(members.clock == [phone: 1, tablet: 1])
  }

  @Test func anAbsentElementIsOut() {
    #expect(!RemoveWinsSet<String>().contains("eve"))
    #expect(RemoveWinsSet<String>().elements == [])
  }
}
