// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What a pass over a route does, and its events.
///
/// It is used within the isolation of the store, while the engine waits.
final class PassRecorder: Sendable {
  private struct State {
    var shown: ReplicaVersion?
    /// The events that started and did not end.
    var open: [SyncEvent.Kind: SyncEvent] = [:]
  }

  private let route: String
  private let state = Locked(State())
  private let events: SyncEvents
  private let now: @Sendable () -> Int64

  /// - Parameter isFirst: Whether this is the first pass after a launch.
  init(
    of route: String, isFirst: Bool, events: SyncEvents,
    now: @escaping @Sendable () -> Int64
  ) {
    (self.route, self.events, self.now) = (route, events, now)
    if isFirst { begin(.setup) }
  }

  /// The version that the peer showed last, or `nil`.
  var shown: ReplicaVersion? { state.withLock { $0.shown } }

  func record(_ step: SyncStep) {
    switch step {
    case .asking(let request):
      if let part = request.part { begin(.export, adding: part) }
    case .answered(let version, let answer):
      state.withLock { $0.shown = version }
      end(.setup, nil)
      if let part = answer.part { begin(.import, adding: part) }
    case .took: break
    }
  }

  /// Ends all events.
  func finish(_ error: (any Error)?) {
    for kind in [SyncEvent.Kind.setup, .export, .import] { end(kind, error) }
  }

  private func begin(_ kind: SyncEvent.Kind, adding part: Delta? = nil) {
    let started: SyncEvent? = state.withLock { state in
      var event =
        state.open[kind]
        ?? SyncEvent(
          id: events.nextID(), kind: kind, route: route, start: now())
      let isNew = state.open[kind] == nil
      event.records += part?.recordIDs.count ?? 0
      event.bytes += part?.encoded().count ?? 0
      state.open[kind] = event
      return isNew ? event : nil
    }
    if let started { events.send(started) }
  }

  private func end(_ kind: SyncEvent.Kind, _ error: (any Error)?) {
    guard var event = state.withLock({ $0.open.removeValue(forKey: kind) })
    else { return }
    (event.end, event.error) = (now(), error)
    events.send(event)
  }
}

/// The streams of events of an engine.
final class SyncEvents: Sendable {
  private struct State {
    var count: UInt64 = 0
    var streams: [Int: AsyncStream<SyncEvent>.Continuation] = [:]
    var number = 0
  }

  private let state = Locked(State())

  deinit { for stream in state.withLock(\.streams).values { stream.finish() } }

  func nextID() -> UInt64 {
    state.withLock {
      $0.count += 1
      return $0.count
    }
  }

  func send(_ event: SyncEvent) {
    for stream in state.withLock({ Array($0.streams.values) }) {
      stream.yield(event)
    }
  }

  /// Returns a stream that keeps the newest 256 events.
  func stream() -> AsyncStream<SyncEvent> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: SyncEvent.self, bufferingPolicy: .bufferingNewest(256))
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
