// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Rejoin

@Suite struct CancellationTests {
  private func decision(
    _ decided: UInt64, _ turns: UInt64, _ canceled: UInt64, _ sum: WideInt
  ) -> Cancellation {
    Cancellation(checked: decided, turns: turns, canceled: canceled, sum: sum)
  }

  private func canceling(
    _ number: UInt64, _ sum: WideInt, over earlier: Cancellation
  ) -> Cancellation {
    var decision = earlier
    decision.cancel(upTo: number, sum: sum)
    return decision
  }

  @Test func resetDecidesOnObservedChanges() {
    #expect(canceling(3, 9, over: Cancellation()) == decision(3, 0, 3, 9))
    // A decision on more changes wins over any number of turns.
    #expect(canceling(5, 9, over: decision(3, 4, 1, 2)) == decision(5, 0, 5, 9))
    // Some of the decided changes count again before the reset.
    #expect(canceling(3, 9, over: decision(3, 1, 0, 0)) == decision(3, 2, 3, 9))
    #expect(canceling(2, 7, over: decision(3, 1, 1, 4)) == decision(3, 2, 2, 7))
  }

  @Test func resetOfCanceledChangesKeepsDecision() {
    for earlier in [
      decision(3, 0, 3, 9), decision(4, 0, 4, 11), decision(4, 5, 3, 9),
    ] {
      #expect(canceling(3, 9, over: earlier) == earlier)
    }
  }

  /// Two histories of one device ID have different sums.
  @Test func resetCancelsSumOfAnotherHistory() {
    #expect(canceling(3, 5, over: decision(3, 0, 3, 9)) == decision(3, 1, 3, 5))
  }

  @Test func undoTurnsDecisionBack() {
    let reset = decision(3, 0, 3, 9)
    #expect(reset.turned(to: Cancellation()) == decision(3, 1, 0, 0))
    let more = decision(5, 0, 5, 20)
    #expect(more.turned(to: reset) == decision(5, 1, 3, 9))
    #expect(decision(5, 1, 3, 9).turned(to: more) == decision(5, 2, 5, 20))
  }

  @Test func decisionDoesNotTurnBeyondGreatestNumber() {
    let last = decision(3, .max, 1, 4)
    #expect(last.turned(to: Cancellation()) == nil)
    #expect(canceling(3, 9, over: last) == decision(3, .max, 3, 9))
    #expect(decision(3, .max - 1, 1, 4).turned(to: Cancellation()) != nil)
  }

  /// The join is the greater decision, so it follows the order.
  @Test func joinKeepsLaterDecision() {
    let rising = [
      Cancellation(), decision(1, 0, 1, 8), decision(3, 0, 3, 5),
      decision(3, 0, 3, 6), decision(3, 1, 0, 0), decision(3, 1, 2, -4),
      decision(3, 2, 1, 0), decision(4, 0, 4, -9),
    ]
    for (i, a) in rising.enumerated() {
      for b in rising[i...] {
        #expect(a.merging(b) == b && b.merging(a) == b)
      }
    }
  }

  @Test func decisionHasConsistentParts() {
    for (parts, isDecision) in [
      ((0, 0, 0, 0), false), ((0, 1, 0, 0), false), ((2, 0, 2, 5), true),
      ((2, 0, 2, 0), true), ((2, 0, 1, 5), false), ((2, 0, 3, 5), false),
      ((2, 1, 0, 0), true), ((2, 1, 0, 5), false), ((2, 1, 2, 5), true),
      ((2, 1, 3, 5), false),
    ] as [((UInt64, UInt64, UInt64, WideInt), Bool)] {
      let decision = Cancellation(
        decided: parts.0, turns: parts.1, canceled: parts.2, sum: parts.3)
      #expect((decision != nil) == isDecision, "\(parts)")
    }
  }
}

// Bytes.
extension CancellationTests {
  private func read(
    _ bytes: [UInt8], decided: UInt64
  ) throws(WireError) -> Cancellation {
    let message = bytes + [UInt8](repeating: 0, count: WireChecksum.size)
    let result = message.withUnsafeBytes { buffer in
      Result { () throws(WireError) in
        var reader = WireReader(buffer, of: .delta, from: 0)
        return try reader.cancellation(of: decided)
      }
    }
    return try result.get()
  }

  @Test func bytesContainOnlyNeededParts() throws {
    for (decision, bytes) in [
      (decision(3, 0, 3, 5), [0, 10]), (decision(3, 1, 0, 0), [1, 3]),
      (decision(3, 1, 3, 5), [1, 0, 10]), (decision(3, 2, 1, -1), [2, 2, 1]),
    ] as [(Cancellation, [UInt8])] {
      var writer = WireWriter()
      writer.cancellation(decision)
      #expect(writer.bytes == bytes)
      #expect(try read(bytes, decided: decision.decided) == decision)
    }
  }

  @Test func readingRefusesMoreChangesThanDecided() {
    for (bytes, decided) in [
      ([1, 4], 3), ([1, 0x80], 3), ([0], 3), ([1, 2], 3), ([0x80, 0], 3),
      ([1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], 1 << 63),
    ] as [([UInt8], UInt64)] {
      #expect(throws: WireError.self, "\(bytes)") {
        try read(bytes, decided: decided)
      }
    }
  }
}
