// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinStore

/// The answers of a route in a pass, and the events of the pass.
final class PassRecorder: Sendable {
  private struct State {
    var shown: ReplicaVersion?
    var refusal: SyncRefusal?
    /// The events that started and did not end.
    var open: [SyncEvent] = []
  }

  private let route: String
  private let state = Locked(State())
  private let events: Broadcast<SyncEvent>
  private let now: @Sendable () -> Int64

  /// - Parameter isFirst: Whether the route did not answer since the launch.
  init(
    of route: String, isFirst: Bool, events: Broadcast<SyncEvent>,
    now: @escaping @Sendable () -> Int64
  ) {
    (self.route, self.events, self.now) = (route, events, now)
    if isFirst { add(to: .setup) }
  }

  /// The version that the peer showed last, or `nil`.
  var shown: ReplicaVersion? { state.withLock { $0.shown } }

  /// The reason why the peer refused saves, or `nil`.
  var refusal: SyncRefusal? { state.withLock { $0.refusal } }

  func record(_ step: SyncStep) {
    switch step {
    case .sending(let part, let byteCount):
      if let part { add(to: .export, part, byteCount) } else { end(.export) }
    case .shown(let version, let refusal):
      state.withLock { state in
        state.shown = version
        state.refusal = state.refusal ?? refusal
      }
      end(.setup)
    case .receiving(let part, let byteCount):
      if let part { add(to: .import, part, byteCount) } else { end(.import) }
    }
  }

  /// Ends all events.
  func finish(_ error: (any Error)?) {
    for kind in [SyncEvent.Kind.setup, .export, .import] { end(kind, error) }
  }

  /// Adds a part to an event, and starts the event if necessary.
  private func add(
    to kind: SyncEvent.Kind, _ part: Delta? = nil, _ byteCount: Int = 0
  ) {
    let started: SyncEvent? = state.withLock { state in
      let index = state.open.firstIndex { $0.kind == kind }
      let i = index ?? state.open.endIndex
      if index == nil {
        state.open.append(SyncEvent(kind: kind, route: route, start: now()))
      }
      state.open[i].records += part?.recordCount ?? 0
      state.open[i].bytes += byteCount
      return index == nil ? state.open[i] : nil
    }
    if let started { events.send(started) }
  }

  private func end(_ kind: SyncEvent.Kind, _ error: (any Error)? = nil) {
    let ended: SyncEvent? = state.withLock { state in
      guard let i = state.open.firstIndex(where: { $0.kind == kind })
      else { return nil }
      return state.open.remove(at: i)
    }
    guard var event = ended else { return }
    (event.end, event.error) = (now(), error)
    events.send(event)
  }
}
