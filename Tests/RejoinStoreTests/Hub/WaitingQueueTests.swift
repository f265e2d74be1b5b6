// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import RejoinStore

/// The queue and the order of the requests that wait for a hub.
@Suite struct WaitingQueueTests {
  /// The test compares a queue with an array.
  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func queueKeepsOrderOfArrival(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var (queue, expected) = (WaitingQueue<Int, String>(), [] as [Int])
    for number in 0..<200 {
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        #expect(queue.removeFirst() == expected.first.map { "\($0)" })
        if !expected.isEmpty { expected.removeFirst() }
      case 1:
        let key = Int.random(in: 0...number, using: &random)
        let isThere = expected.contains(key)
        #expect(queue.remove(key) == (isThere ? "\(key)" : nil))
        expected.removeAll { $0 == key }
      default:
        queue.append("\(number)", for: number)
        expected.append(number)
      }
      #expect(queue.count == expected.count)
      #expect(queue.isEmpty == expected.isEmpty)
      #expect(queue.first == expected.first.map { "\($0)" })
      #expect(Set(queue.elements) == Set(expected.map { "\($0)" }))
    }
    var rest: [String] = []
    while let next = queue.removeFirst() { rest.append(next) }
    #expect(rest == expected.map { "\($0)" })
  }

  /// A line of requests.
  ///
  /// The name of a request contains its scope and number.
  private struct Requests {
    var line = HubLine<String>()
    private var places: [String: HubPlace] = [:]

    mutating func add(
      _ scope: String, _ numbers: ClosedRange<Int>, of records: Int
    ) {
      for number in numbers {
        let place = HubPlace(
          number: places.count, scope: Array(scope.utf8), recordCount: records)
        places["\(scope)\(number)"] = place
        line.append("\(scope)\(number)", at: place)
      }
    }

    mutating func cancel(_ name: String) throws -> String? {
      line.remove(try #require(places[name]))
    }

    mutating func next() -> [String] { line.removeNext() }
  }

  @Test func scopesTakeTurns() {
    var requests = Requests()
    requests.add("a", 1...4, of: 1)
    requests.add("b", 1...1, of: 1)
    requests.add("c", 1...2, of: 1)
    #expect(requests.next() == ["a1", "b1", "c1", "a2", "c2", "a3", "a4"])
    #expect(requests.line.isEmpty && requests.next() == [])
  }

  /// A scope that waited for a transaction does not lose its turn.
  @Test func turnContinuesInNextTransaction() {
    var requests = Requests()
    requests.add("a", 1...70, of: 1)
    requests.add("b", 1...33, of: 1)
    let first = requests.next()
    #expect(first.count == 64)
    #expect(first.filter { $0.hasPrefix("b") }.count == 32)
    #expect(requests.next().prefix(2) == ["a33", "b33"])
  }

  @Test func smallRequestsShareLimitedTransactions() {
    var requests = Requests()
    requests.add("a", 1...30, of: 500)
    #expect(requests.next() == (1...20).map { "a\($0)" })
    #expect(requests.next() == (21...30).map { "a\($0)" })
    requests.add("a", 31...31, of: 500)
    requests.add("a", 32...52, of: 499)
    #expect(requests.next() == (31...50).map { "a\($0)" })
  }

  @Test func largeRequestsAlternateWithSmallOnes() {
    var requests = Requests()
    requests.add("a", 1...2, of: 501)
    requests.add("b", 3...3, of: 100_000)
    requests.add("a", 4...103, of: 0)
    #expect(requests.next().count == 64)
    #expect(requests.next() == ["a1"])
    #expect(requests.next().count == 36)
    #expect(requests.next() == ["b3"])
    requests.add("b", 104...104, of: 1)
    #expect(requests.next() == ["b104"])
    #expect(requests.next() == ["a2"])
    #expect(requests.line.isEmpty)
  }

  @Test func largeRequestsRest() {
    var requests = Requests()
    requests.add("a", 1...1, of: 501)
    requests.line.isResting = true
    #expect(!requests.line.isReady && !requests.line.isEmpty)
    #expect(requests.next() == [])
    requests.add("a", 2...3, of: 500)
    #expect(requests.line.isReady && requests.line.hasSmall)
    #expect(requests.next() == ["a2", "a3"])
    #expect(!requests.line.isReady && requests.next() == [])
    requests.line.isResting = false
    #expect(requests.line.isReady && requests.next() == ["a1"])
    #expect(!requests.line.isReady && requests.line.isEmpty)
  }

  @Test func canceledRequestsAreNotServed() throws {
    var requests = Requests()
    requests.add("a", 1...3, of: 1)
    requests.add("b", 1...1, of: 1)
    requests.add("c", 1...1, of: 600)
    #expect(try requests.cancel("a1") == "a1")
    #expect(try requests.cancel("a1") == nil)
    #expect(try requests.cancel("b1") == "b1")
    #expect(try requests.cancel("c1") == "c1")
    #expect(Set(requests.line.requests) == ["a2", "a3"])
    #expect(requests.next() == ["a2", "a3"])
    #expect(requests.line.isEmpty)
  }
}
