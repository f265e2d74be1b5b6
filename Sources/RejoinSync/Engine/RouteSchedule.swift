// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinStore

/// The time of the next call of a route, and the size of its parts.
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

  /// The consequence of an error.
  enum Kind: Hashable, Sendable {
    case decision, end, retry
  }

  /// The end of a call.
  enum Outcome {
    case succeeded(isUploaded: Bool)
    case failed(any Error)
    case canceled
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
  /// Whether the app resumed the route since the last call started.
  private var isResumed = false

  /// Whether the next pass sends saves.
  var uploads: Bool { uploadRefusal == nil || triesAgain }

  /// The end of the wait, or `nil` if the route does not wait.
  var end: Int64? {
    if case .waiting(let end, _) = state { end } else { nil }
  }

  /// Returns whether a pass includes the route.
  ///
  /// - Parameter includesOthers: Whether it also includes a route that does not wait,
  ///   or would wait longer by the choice of the engine.
  func isDue(at now: Int64, includingOthers includesOthers: Bool) -> Bool {
    switch state {
    case .ready: includesOthers
    case .waiting(let end, let isAsked):
      end <= now || includesOthers && !isAsked
    case .needsDecision, .stopped: false
    }
  }

  /// Records that a call starts.
  ///
  /// - Returns: Whether the call sends saves.
  mutating func begin() -> Bool {
    defer { (triesAgain, isResumed) = (false, false) }
    return uploads
  }

  /// Records how a call ended.
  ///
  /// - Parameters:
  ///   - outcome: The end of the call.
  ///   - uploaded: The result of ``begin()``.
  ///   - refusal: The reason why the peer refused saves, or `nil`.
  ///   - hasProgressed: Whether the store or the peer got saves in the call.
  ///   - now: The time.
  ///   - random: A closure that returns a number up to a bound.
  mutating func end(
    _ outcome: Outcome, uploading uploaded: Bool,
    refusing refusal: SyncRefusal?, hasProgressed: Bool, at now: Int64,
    random: (Int64) -> Int64
  ) {
    if state == .stopped { return }
    if refusal != nil {
      uploadRefusal = refusal
    } else if uploaded, case .succeeded = outcome {
      uploadRefusal = nil
    } else if uploaded, uploadRefusal != nil {
      // The peer did not judge the saves.
      triesAgain = true
    }
    defer { if isResumed, state != .stopped { state = .ready } }
    func wait(for seconds: Int = 0) {
      failures = hasProgressed ? 1 : failures + 1
      let longest = min(1 << min(failures, 20), Self.longestWait)
      let asked = Int64(min(max(seconds, 0), Self.longestAskedWait)) * 1_000
      state = .waiting(
        until: now + max(random(Int64(longest) * 1_000), asked),
        isAsked: asked > 0)
    }
    switch outcome {
    case .canceled: break
    case .succeeded(let isUploaded):
      bytesPerPart = min(2 * bytesPerPart, Self.bytesPerPart.upperBound)
      if isUploaded || uploadRefusal != nil {
        (state, failures) = (.ready, 0)
      } else {
        // An old answer can end a call early. The saves must not wait for others.
        wait()
      }
    case .failed(let error):
      switch RouteSchedule.kind(of: error) {
      case .decision: state = .needsDecision
      case .end: state = .stopped
      case .retry:
        bytesPerPart = max(bytesPerPart / 2, Self.bytesPerPart.lowerBound)
        if case SyncRefusal.busy(let seconds) = error {
          wait(for: seconds)
        } else {
          wait()
        }
      }
    }
  }

  /// Records that a local save was made, which may be the one that ends a refusal.
  ///
  /// The refusal itself can still be on its way.
  mutating func save() { triesAgain = true }

  /// Records that the app lets the route continue.
  mutating func resume() {
    if state == .stopped { return }
    (state, uploadRefusal, failures) = (.ready, nil, 0)
    (triesAgain, isResumed) = (true, true)
  }

  /// Records that the store cannot be used anymore.
  mutating func stop() { state = .stopped }

  /// Returns whether an error is one of the library, whose texts have a remedy.
  static func isOfLibrary(_ error: any Error) -> Bool {
    error is SyncRefusal || error is StoreError || error is WireError
      || error is HTTPRouteError || error is ObjectStorageError
  }

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
