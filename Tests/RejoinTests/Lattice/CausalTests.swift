// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

private let phone = DeviceID(1)
private let tablet = DeviceID(2)

private typealias Register = Causal<Siblings<Stamped>>

@Suite(.encodes) struct CausalTests {
  private func stamped(_ word: String) -> Stamped {
    Stamped(.string(word), at: .zero)
  }

  private func written(_ word: String, at dot: Dot) -> Register {
    var register = Register()
    register.update(at: dot) { $0 = Siblings(stamped(word), at: dot) }
    return register
  }

  @Test func initialValueHasEmptyContext() {
    let register = Register()
    #expect(register.isInitial)
    #expect(register.clock.isEmpty)
    #expect(register.context == CausalContext())
  }

  @Test func contextContainsSaveWithoutContent() {
    var register = written("a", at: Dot(phone, 1))
    register.update(at: Dot(tablet, 1)) { $0 = Siblings() }
    #expect(!register.isInitial)
    #expect(register.clock == [phone: 1, tablet: 1])
    #expect(register.merging(written("a", at: Dot(phone, 1))).store.isEmpty)
  }

  /// A value omits the clock if its siblings imply the clock.
  @Test func equalityIgnoresStoredClock() {
    let direct = written("a", at: Dot(phone, 2))
    let spelled = Register(
      store: Siblings(stamped("a"), at: Dot(phone, 2)),
      context: CausalContext([phone: 2]))
    #expect(direct == spelled)
    #expect(direct.hashValue == spelled.hashValue)
    let more = Register(
      store: Siblings(stamped("a"), at: Dot(phone, 2)),
      context: CausalContext([phone: 3]))
    #expect(direct != more)
    #expect(more.clock == [phone: 3])
  }

  @Test func singleDotExcludesEarlierDots() {
    let delta = Register(
      store: Siblings(stamped("b"), at: Dot(phone, 2)),
      context: CausalContext(dots: [Dot(phone, 2)]))
    #expect(delta.clock.isEmpty)
    let join = written("a", at: Dot(phone, 1)).merging(delta)
    #expect(join.store.count == 2)
    #expect(join.clock == [phone: 2])
  }

  @Test func reshapingKeepsClock() {
    var ledger = Causal<Ledger>()
    ledger.update(at: Dot(phone, 4)) {
      $0.append(5, memo: nil, at: Dot(phone, 4), time: .zero)
    }
    let before = ledger
    ledger.reshape { _ = $0.fold(below: [phone: 4]) }
    #expect(ledger == before)
    #expect(ledger.clock == [phone: 4])
    #expect(ledger.store.entries.isEmpty)
  }
}
