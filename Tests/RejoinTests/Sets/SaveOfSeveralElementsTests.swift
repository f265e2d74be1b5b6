// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

/// One save may insert several elements under one dot.
@Suite struct SaveOfSeveralElementsTests {
  @Test func eachElementIsRemovedByItself() {
    let dot = Dot(DeviceID(1), 1)
    var field = Causal<DotMap<AddMark>>()
    field.update(at: dot) {
      $0.mark(.string("a"), AddMark(), at: dot, seen: Everything())
      $0.mark(.string("b"), AddMark(), at: dot, seen: Everything())
    }
    var other = field
    _ = other.update(at: Dot(DeviceID(2), 1)) {
      $0.mark(.string("a"), nil, at: dot, seen: Everything())
    }
    #expect(field.merging(other).store.elements == [.string("b")])
    #expect(other.merging(field).store.elements == [.string("b")])
  }

  @Test func theGreaterPayloadOfOneDotStays() {
    let dot = Dot(DeviceID(1), 1)
    var (a, b) = (Causal<DotMap<SetMark>>(), Causal<DotMap<SetMark>>())
    _ = a.update(at: dot) {
      $0.mark(.null, .added, at: dot, seen: Everything())
    }
    _ = b.update(at: dot) {
      $0.mark(.null, .removed, at: dot, seen: Everything())
    }
    #expect(a.merging(b) == b)
    #expect(b.merging(a) == b)
  }
}
