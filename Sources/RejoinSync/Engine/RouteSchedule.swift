// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinStore

/// When a route syncs next, and in parts of what size.
///
/// Times are milliseconds of a clock that does not jump.
struct RouteSchedule: Sendable {
  enum State: Hashable, Sendable {
    case ready
    /// It tries again at a time, which the peer asked for or the engine chose.
    case waiting(until: Int64, isAsked: Bool)
    case needsDecision
    case stopped
  }

  /// What an error asks for.
  enum Kind: Hashable, Sendable {
    case decision, end, retry
  }

  static let bytesPerPart = 16 << 10...256 << 10
  /// The maximum time between two attempts, in seconds, unless the peer asks for
  /// more.
  static let longestWait = 300
  /// The maximum time that a peer can ask for: a day.
  static let longestAskedWait = 86_400

  private(set) var state = State.ready
  private(set) var bytesPerPart = Self.bytesPerPart.upperBound
  /// The number of failures in a row.
  private(set) var failures = 0
  /// The reason why the peer refused saves, or `nil`.
  private(set) var uploadRefusal: SyncRefusal?
  /// Whether the next pass sends saves although the peer refused some.
  private var triesAgain = false

  /// Whether the next pass sends saves.
  var uploads: Bool { uploadRefusal == nil || triesAgain }

  /// Returns whether a pass includes the route.
  ///
  /// - Parameter includingRetries: Whether it also includes a route that would wait
  ///   longer by the choice of the engine.
  func isDue(at now: Int64, includingRetries: Bool) -> Bool {
    switch state {
    case .ready: true
    case .waiting(let end, let isAsked):
      end <= now || includingRetries && !isAsked
    case .needsDecision, .stopped: false
    }
  }

  /// Records that the call of a pass ended.
  mutating func succeed(refusing refusal: SyncRefusal?) {
    if uploads || refusal != nil { uploadRefusal = refusal }
    (state, failures, triesAgain) = (.ready, 0, false)
    bytesPerPart = min(2 * bytesPerPart, Self.bytesPerPart.upperBound)
  }

  /// Records that the call of a pass failed.
  ///
  /// - Parameters:
  ///   - hasProgressed: Whether the store or the peer got saves in the call.
  ///   - random: A closure that returns a number up to a bound.
  mutating func fail(
    _ error: any Error, hasProgressed: Bool, at now: Int64,
    random: (Int64) -> Int64
  ) {
    triesAgain = false
    switch RouteSchedule.kind(of: error) {
    case .decision: state = .needsDecision
    case .end: state = .stopped
    case .retry:
      failures = hasProgressed ? 1 : failures + 1
      bytesPerPart = max(bytesPerPart / 2, Self.bytesPerPart.lowerBound)
      let bound = min(1 << min(failures, 20), Self.longestWait)
      var wait = random(Int64(bound) * 1_000)
      var isAsked = false
      if case SyncRefusal.busy(let seconds) = error {
        let asked = Int64(min(max(seconds, 0), Self.longestAskedWait)) * 1_000
        (wait, isAsked) = (max(wait, asked), asked > 0)
      }
      state = .waiting(until: now + wait, isAsked: isAsked)
    }
  }

  /// Records that a local save was made, which may be the one that ends a refusal.
  mutating func save() { triesAgain = uploadRefusal != nil }

  /// Records that the app lets the route continue.
  mutating func resume() {
    (state, uploadRefusal, triesAgain, failures) = (.ready, nil, false, 0)
  }

  mutating func stop() { state = .stopped }

  static func kind(of error: any Error) -> Kind {
    switch error {
    case SyncRefusal.denied, SyncRefusal.gone, SyncRefusal.wrongScope,
      SyncRefusal.tooLarge, SyncRefusal.full, SyncRefusal.unsupportedFormat:
      .decision
    case let error as WireError where error.code == .newerVersion: .decision
    case StoreError.superseded, StoreError.closed: .end
    default: .retry
    }
  }
}
