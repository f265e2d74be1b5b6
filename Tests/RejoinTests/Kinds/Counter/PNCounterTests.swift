// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

private let phone = DeviceID(1)
private let tablet = DeviceID(2)

private enum Act {
  case add(Int64)
  case reset
  case set(Int64)
}

private typealias Scripts = SeenHistory<PNCounter, Act>

extension Known<Act> {
  /// The sum of the increments that no known reset had seen.
  fileprivate var value: Int64 {
    let resets = deeds.filter(\.act.isReset)
    return deeds.reduce(0) { sum, deed in
      let isCancelled = resets.contains { $0.seen.contains(deed.number) }
      return isCancelled ? sum : sum + deed.act.amount
    }
  }
}

extension Act {
  fileprivate var isReset: Bool { if case .add = self { false } else { true } }

  fileprivate var amount: Int64 {
    switch self {
    case .add(let amount), .set(let amount): amount
    case .reset: 0
    }
  }
}

@Suite(.encodes) struct PNCounterOracleTests {
  @Test func resetsCancelSeenIncrements() {
    let rules = Scripts.Rules(
      initial: PNCounter(),
      act: { counter, device, _, random in
        let amount = Int64(random.number(below: 21)) - 10
        switch random.number(below: 6) {
        case 0: return (.reset, counter.reset())
        case 1: return (.set(amount), try counter.set(to: amount, on: device))
        default:
          return (.add(amount), try add(amount, to: &counter, by: device))
        }
      },
      complaint: { $0.value == $1.value ? nil : "\($0), not \($1.value)" })
    #expect(Scripts.complaints(rules, seeds: 0..<500) == [])
  }

  private func add(
    _ amount: Int64, to counter: inout PNCounter, by device: DeviceID
  ) throws -> PNCounter {
    amount < 0
      ? try counter.decrement(by: amount.magnitude, on: device)
      : try counter.increment(by: amount.magnitude, on: device)
  }
}

@Suite(.encodes) struct PNCounterTests {
  @Test func documentationExampleHolds() throws {
    var steps = PNCounter()
    try steps.increment(by: 1200, on: phone)
    var copy = steps
    try copy.increment(by: 800, on: tablet)
    steps.reset()
    steps.merge(copy)
    #expect(steps.value == 800)
    #expect("\(steps)" == "800")
  }

  @Test func concurrentResetsCancelOnce() throws {
    var steps = PNCounter()
    try steps.increment(by: 10, on: phone)
    var copy = steps
    steps.reset()
    copy.reset()
    #expect(steps.merging(copy).value == 0)
  }

  @Test func resetCancelsIncrementsArrivingLater() throws {
    var steps = PNCounter()
    let late = try steps.increment(by: 10, on: phone)
    let reset = steps.reset()
    var other = PNCounter()
    other.merge(reset)
    other.merge(late)
    #expect(other.value == 0)
  }

  @Test func settingShowsTargetValue() throws {
    for target in [0, 7, -7, .max, .min] as [Int64] {
      var counter = PNCounter()
      try counter.increment(by: 3, on: phone)
      try counter.set(to: target, on: tablet)
      #expect(counter.value == target)
      try counter.set(to: target, on: phone)
      #expect(counter.value == target)
    }
  }

  @Test func overflowThrowsWithoutChange() throws {
    var counter = PNCounter()
    try counter.increment(by: .max, on: phone)
    let before = counter
    let overflow = PNCounter.Overflow(device: phone)
    #expect(throws: overflow) { try counter.increment(by: 1, on: phone) }
    #expect(throws: overflow) { try counter.set(to: 1, on: phone) }
    #expect(counter == before)
    try counter.decrement(by: .max, on: phone)
    #expect(counter.value == 0)
    let full = counter
    #expect(throws: overflow) { try counter.decrement(by: 1, on: phone) }
    #expect(counter == full)
    #expect("\(overflow)".contains("new device"))
  }

  @Test func otherDeviceCountsAfterOverflow() throws {
    var counter = PNCounter()
    try counter.increment(by: .max, on: phone)
    counter.reset()
    #expect(throws: PNCounter.Overflow.self) {
      try counter.increment(by: 1, on: phone)
    }
    try counter.increment(by: 5, on: tablet)
    #expect(counter.value == 5)
  }

  @Test func valueClampsExactSum() throws {
    var counter = PNCounter()
    try counter.increment(by: .max, on: phone)
    try counter.increment(by: .max, on: tablet)
    #expect(counter.value == .max)
    try counter.decrement(by: .max, on: tablet)
    try counter.decrement(by: UInt64(Int64.max), on: phone)
    #expect(counter.value == .max)
    try counter.decrement(by: 1 << 63, on: phone)
    #expect(counter.value == 0)
    try counter.decrement(by: .max, on: DeviceID(3))
    #expect(counter.value == .min)
  }

  @Test func incrementByZeroChangesCounter() throws {
    var counter = PNCounter()
    try counter.increment(by: 0, on: phone)
    #expect(counter != PNCounter())
    #expect(counter.value == 0)
  }
}
