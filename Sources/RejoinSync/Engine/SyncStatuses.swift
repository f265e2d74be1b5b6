// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The streams of statuses of an engine.
final class SyncStatuses: Sendable {
  private struct State {
    var streams: [Int: AsyncStream<[SyncStatus]>.Continuation] = [:]
    var number = 0
  }

  private let state = Locked(State())

  deinit { for stream in state.withLock(\.streams).values { stream.finish() } }

  func send(_ statuses: [SyncStatus]) {
    for stream in state.withLock({ Array($0.streams.values) }) {
      stream.yield(statuses)
    }
  }

  /// Returns a stream that keeps the newest statuses.
  func stream() -> AsyncStream<[SyncStatus]> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: [SyncStatus].self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.number += 1
      state.streams[state.number] = continuation
      return state.number
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { $0.streams[number] = nil }
    }
    return stream
  }
}
