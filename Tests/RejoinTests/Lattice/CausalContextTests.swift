// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
import Testing

private let phone = DeviceID(1)
private let tablet = DeviceID(2)

@Suite(.encodes) struct CausalContextTests {
  @Test func contextContainsRepeatedDotOnce() {
    let dots = [Dot(phone, 3), Dot(tablet, 2)]
    let context = CausalContext(dots: dots)
    #expect(CausalContext(dots: dots + dots) == context)
    #expect(context.merging(context) == context)
    #expect(context.dotCloud == dots.sorted())
  }

  @Test func dotsBeyondGapStayInDotCloud() {
    let context = CausalContext(dots: [Dot(phone, 3), Dot(phone, 1)])
    #expect(context.clock == [phone: 1])
    #expect(context.dotCloud == [Dot(phone, 3)])
    #expect(context.contains(Dot(phone, 1)))
    #expect(!context.contains(Dot(phone, 2)))
    #expect(context.contains(Dot(phone, 3)))
  }

  @Test func contiguousDotsMoveIntoClock() {
    var context = CausalContext(dots: [Dot(phone, 3), Dot(phone, 2)])
    #expect(context.clock == [:])
    context.merge(CausalContext(dots: [Dot(phone, 1), Dot(tablet, 2)]))
    #expect(context.clock == [phone: 3])
    #expect(context.dotCloud == [Dot(tablet, 2)])
    context.insert(through: Dot(tablet, 1))
    #expect(context == CausalContext([phone: 3, tablet: 2]))
    #expect(context.dotCloud.isEmpty)
  }

  @Test func mergedClockAbsorbsDotCloud() {
    var context = CausalContext(dots: [Dot(phone, 5), Dot(phone, 9)])
    context.merge(CausalContext([phone: 8]))
    #expect(context == CausalContext([phone: 9]))
    var other = CausalContext([phone: 8])
    other.merge(CausalContext(dots: [Dot(phone, 5), Dot(phone, 9)]))
    #expect(other == context)
  }

  @Test func insertingThroughDotAddsEarlierDots() {
    var context = CausalContext()
    context.insert(through: Dot(phone, 3))
    #expect(context == CausalContext([phone: 3]))
    context.insert(through: Dot(phone, 2))
    #expect(context == CausalContext([phone: 3]))
  }

  @Test func nextDotFollowsGreatestSeenDot() {
    let dots = [Dot(phone, 1), Dot(phone, 5), Dot(phone, 3), Dot(tablet, 9)]
    var context = CausalContext(dots: dots)
    #expect(context.insertNext(of: phone) == Dot(phone, 6))
    #expect(context.insertNext(of: DeviceID(3)) == Dot(DeviceID(3), 1))
    let added = [Dot(phone, 6), Dot(DeviceID(3), 1)]
    #expect(context == CausalContext(dots: dots + added))
  }

  @Test func nextDotContinuesClock() {
    var context = CausalContext([phone: 4])
    #expect(context.insertNext(of: phone) == Dot(phone, 5))
    #expect(context.insertNext(of: tablet) == Dot(tablet, 1))
    #expect(context == CausalContext([phone: 5, tablet: 1]))
  }

  @Test func contextOfOneDotExcludesOtherDots() {
    for n in [1, 2, 9] as [UInt64] {
      #expect(
        CausalContext(Dot(phone, n)) == CausalContext(dots: [Dot(phone, n)]))
    }
  }

  @Test func mergeOrderDoesNotChangeContext() {
    let dots =
      (1...6).map { Dot(phone, $0) } + [Dot(tablet, 4), Dot(tablet, 5)]
    for seed in 0..<100 as Range<UInt64> {
      var random = SeededRandom(seed: seed)
      var context = CausalContext()
      for dot in dots.shuffled(using: &random) {
        context.merge(CausalContext(dots: [dot]))
      }
      #expect(context.clock == [phone: 6], "seed \(seed)")
      #expect(context == CausalContext(dots: dots), "seed \(seed)")
    }
  }

  #if compiler(>=6.2)
    @Test func greatestSequenceDoesNotTrap() async {
      await #expect(processExitsWith: .success) {
        var context = CausalContext(dots: [Dot(phone, .max)])
        #expect(context.contains(Dot(phone, .max)))
        context.insert(through: Dot(phone, .max))
        context.merge(CausalContext(dots: [Dot(phone, 1), Dot(phone, .max)]))
        #expect(context == CausalContext([phone: .max]))
      }
    }
  #endif
}
