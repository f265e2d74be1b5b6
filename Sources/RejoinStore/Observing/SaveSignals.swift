// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The listeners that learn that saves were made here, without their content.
package final class SaveSignals: Sendable {
  private struct State {
    var streams: [Int: AsyncStream<Void>.Continuation] = [:]
    var number = 0
  }

  private let state = Locked(State())

  deinit { for stream in state.withLock(\.streams).values { stream.finish() } }

  func send() {
    for stream in state.withLock({ Array($0.streams.values) }) {
      stream.yield()
    }
  }

  func finish() {
    for stream in state.withLock({ Array($0.streams.values) }) {
      stream.finish()
    }
  }

  /// Returns a stream with one element for one or more saves.
  func stream() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
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

extension ReplicaStore {
  /// Saves and imports that are made from now on.
  package func savesMade() -> AsyncStream<Void> { scope.saves.stream() }

  /// Returns the value of a note, or `nil` if it is missing or damaged.
  package func note(_ name: String) -> [UInt8]? { scope.note(name) }

  /// Replaces the value of a note, which may be lost.
  package func setNote(_ name: String, to value: [UInt8]) throws(StoreError) {
    try scope.setNote(name, to: value)
  }
}
