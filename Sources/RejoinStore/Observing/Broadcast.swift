// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Elements that each of any number of asynchronous sequences receives.
package final class Broadcast<Element: Sendable>: Sendable {
  private struct State {
    var streams: [Int: AsyncStream<Element>.Continuation] = [:]
    var count = 0
    var isFinished = false
    /// The newest element, if new sequences start with it.
    var newest: Element?
  }

  /// Held while elements are sent, so no sequence receives an older one later.
  private let order = Locked(())
  /// Not held while an element is sent.
  ///
  /// Sending takes the lock of the task that waits for it. Canceling a task takes that
  /// lock, too, and then this one.
  private let state = Locked(State())
  private let limit: Int
  private let startsWithNewest: Bool

  /// Creates a broadcast.
  ///
  /// - Parameters:
  ///   - limit: The number of newest elements that a sequence keeps.
  ///   - startsWithNewest: Whether a new sequence starts with the newest element.
  package init(keeping limit: Int, startingWithNewest: Bool = false) {
    (self.limit, startsWithNewest) = (limit, startingWithNewest)
  }

  deinit { for stream in state.withLock(\.streams).values { stream.finish() } }

  package func send(_ element: Element) {
    order.withLock { _ in
      let streams = state.withLock { state in
        if startsWithNewest { state.newest = element }
        return Array(state.streams.values)
      }
      for stream in streams { stream.yield(element) }
    }
  }

  /// Ends all sequences, including those that are added later.
  package func finish() {
    let streams = state.withLock { state in
      state.isFinished = true
      return Array(state.streams.values)
    }
    for stream in streams { stream.finish() }
  }

  /// Returns a sequence of the elements from now on.
  package func stream() -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Element.self, bufferingPolicy: .bufferingNewest(limit))
    let (number, isFinished) = order.withLock { _ in
      let (number, newest, isFinished) = state.withLock { state in
        state.count += 1
        if !state.isFinished { state.streams[state.count] = continuation }
        return (state.count, state.newest, state.isFinished)
      }
      if let newest { continuation.yield(newest) }
      return (number, isFinished)
    }
    if isFinished { continuation.finish() }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { $0.streams[number] = nil }
    }
    return stream
  }
}
