// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

/// A device that receives its own changes in pieces does not reuse a dot for a new
/// change.
@Suite(.encodes) struct OwnDeltaTests {
  private let phone = DeviceID(1)

  @Test func setContinuesAfterOwnLatestDelta() {
    var original = ORSet<String>()
    original.insert("a", on: phone)
    let second = original.insert("b", on: phone)
    var restored = ORSet<String>()
    restored.merge(second)
    restored.insert("c", on: phone)
    restored.merge(original)
    #expect(restored.elements == ["a", "b", "c"])
    original.merge(restored)
    #expect(original == restored)
  }

  @Test func registerContinuesAfterOwnLatestDelta() {
    var original = MVRegister<String>()
    original.write("a", on: phone, at: Timestamp(milliseconds: 1))
    let second = original.write("b", on: phone, at: Timestamp(milliseconds: 2))
    var restored = MVRegister<String>()
    restored.merge(second)
    restored.write("c", on: phone, at: Timestamp(milliseconds: 3))
    original.merge(restored)
    #expect(original.value == "c")
    #expect(original.conflicts == [])
  }
}
