// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RejoinStore

@Suite struct BroadcastTests {
  /// A task that is canceled while it receives an element must not stop the sender.
  @Test func canceledTaskDoesNotBlockSender() async {
    let broadcast = Broadcast<Int>(keeping: 1, startingWithNewest: true)
    let sender = Task {
      for number in 0..<100_000 where !Task.isCancelled {
        broadcast.send(number)
      }
    }
    for _ in 0..<2_000 {
      let receiver = Task { for await _ in broadcast.stream() {} }
      await Task.yield()
      receiver.cancel()
      await receiver.value
    }
    sender.cancel()
    await sender.value
  }

  @Test func eachSequenceReceivesNewestElement() async {
    let broadcast = Broadcast<Int>(keeping: 1, startingWithNewest: true)
    broadcast.send(1)
    let (one, other) = (broadcast.stream(), broadcast.stream())
    broadcast.send(2)
    broadcast.finish()
    for stream in [one, other, broadcast.stream()] {
      var received: [Int] = []
      for await element in stream { received.append(element) }
      #expect(received == [2])
    }
  }
}
