// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

/// One save may insert several elements under one dot.
@Suite struct SaveOfSeveralElementsTests {
  @Test func removalKeepsOtherElementsOfSave() {
    let dot = Dot(DeviceID(1), 1)
    var field = Causal<ORSetStore>()
    field.update(at: dot) {
      $0.change(.string("a"), isIn: true, at: dot, seen: Everything())
      $0.change(.string("b"), isIn: true, at: dot, seen: Everything())
    }
    var other = field
    _ = other.update(at: Dot(DeviceID(2), 1)) {
      $0.change(.string("a"), isIn: false, at: dot, seen: Everything())
    }
    #expect(field.merging(other).store.elements == [.string("b")])
    #expect(other.merging(field).store.elements == [.string("b")])
  }
}
