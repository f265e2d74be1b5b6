// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting
import Testing

@Suite struct SeededRandomTests {
  /// The first numbers of the reference implementation for the seed 1234567.
  @Test func numbersEqualThoseOfSplitmix64() {
    var random = SeededRandom(seed: 1_234_567)
    let numbers = (0..<3).map { _ in random.next() }
    #expect(
      numbers == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973,
        9_817_491_932_198_370_423,
      ])
  }

  @Test func numberBelowZeroTraps() async throws {
    let process = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      var random = SeededRandom(seed: 1)
      _ = random.number(below: 0)
    }
    let text = String(decoding: process.standardErrorContent, as: UTF8.self)
    #expect(text.contains("there is no number below 0"))
  }

  @Test func exampleHasDocumentedResults() {
    var random = SeededRandom(seed: 7)
    #expect(random.number(below: 10) == 7)
    #expect(random.pick(["a", "b"]) == "a")
  }

  @Test func equalSeedsDrawEqualValues() {
    func draw(_ seed: UInt64) -> String {
      var random = SeededRandom(seed: seed)
      let list = random.shuffled(Array(0..<9))
      return
        "\(random.number(below: 90)) \(random.chance(percent: 50)) \(list) "
        + "\(random.pick(list)) \(random.timestamp())"
    }
    #expect(draw(5) == draw(5))
    #expect(Set((0..<50).map { draw(UInt64($0)) }).count == 50)
  }

  @Test func numbersAreBelowTheirBound() {
    var random = SeededRandom(seed: 1)
    #expect(
      Set((0..<200).map { _ in random.number(below: 5) }) == [0, 1, 2, 3, 4])
    #expect(random.number(below: 1) == 0)
  }

  @Test func chanceDrawsPercentage() {
    var random = SeededRandom(seed: 2)
    let count = (0..<10_000).count { _ in random.chance(percent: 30) }
    #expect((2_800...3_200).contains(count))
    #expect((0..<100).allSatisfy { _ in !random.chance(percent: 0) })
    #expect((0..<100).allSatisfy { _ in random.chance(percent: 100) })
  }

  @Test func shufflingDrawsEveryOrder() {
    var random = SeededRandom(seed: 3)
    let orders = Set((0..<200).map { _ in random.shuffled([1, 2, 3]) })
    #expect(orders.count == 6)
    #expect(orders.allSatisfy { $0.sorted() == [1, 2, 3] })
    #expect(random.shuffled([Int]()) == [])
  }
}
