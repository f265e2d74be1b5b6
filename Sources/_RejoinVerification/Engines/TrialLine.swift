// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinStore
import RejoinSync
import RejoinTesting

/// A line from the engine of a device to a peer, which loses, repeats and delays
/// messages and refuses saves.
///
/// It checks what a peer can check: requests come one at a time, a refused part does
/// not come again by itself, and parts get smaller after an error.
final class TrialLine: Sendable {
  struct Offline: Error {}

  private struct State {
    var random: SeededRandom
    var isFaulty = true
    var isReadOnly = false
    var lastAnswer: [UInt8]?
    /// Whether saves were refused, and none was sent or told to be sent since.
    var isRefused = false
    /// How often such a part may come again, once for each save or resumption.
    ///
    /// The engine can learn of a save after it sent the save.
    var attempts = 0
    /// The largest part that the last request asked for, and whether the engine got
    /// an error since.
    var byteLimit = 256 << 10
    var hasFailed = false
    /// The time until which the peer asked to wait, or `nil`.
    var askedEnd: Int64?
    /// Whether the peer refused everything, and the app did not resume the route.
    var needsDecision = false
    /// Whether the app resumed the route, perhaps during a call, since a request needed
    /// that.
    var isResumed = false
    var faults: [String] = []
  }

  private let state: Locked<State>
  /// The number of requests on the way from the device.
  private let running: Locked<Int>
  private let calls: TrialCalls
  private let time: ManualTime
  private let answer: @Sendable ([UInt8], Bool) async throws -> [UInt8]
  let counts: Locked<EngineTrialCounts>

  /// - Parameters:
  ///   - running: The number of requests on the way, shared by the lines of a device.
  ///   - calls: The calls of the app.
  ///   - answer: A closure that answers a request, and refuses parts if its second
  ///     argument is `true`.
  init(
    seed: UInt64, running: Locked<Int>, calls: TrialCalls, time: ManualTime,
    counts: Locked<EngineTrialCounts>,
    answer: @escaping @Sendable ([UInt8], Bool) async throws -> [UInt8]
  ) {
    state = Locked(State(random: SeededRandom(seed: seed)))
    (self.running, self.calls, self.time) = (running, calls, time)
    (self.counts, self.answer) = (counts, answer)
  }

  /// The laws that the engine broke.
  var faults: [String] { state.withLock(\.faults) }
  /// Records that the device saved.
  func save() { state.withLock { $0.attempts = min($0.attempts + 1, 2) } }

  /// Records that the app told the route to go on.
  func resume() {
    state.withLock {
      ($0.isRefused, $0.needsDecision, $0.askedEnd) = (false, false, nil)
      ($0.isResumed, $0.attempts) = (true, min($0.attempts + 1, 2))
    }
  }

  /// Records that an engine was launched.
  func launch() {
    resume()
    state.withLock { ($0.hasFailed, $0.byteLimit) = (false, 256 << 10) }
  }

  /// Records that the app canceled passes, perhaps one that just failed.
  func cancel() { state.withLock { $0.hasFailed = false } }

  func setReadOnly(_ isReadOnly: Bool) {
    state.withLock { $0.isReadOnly = isReadOnly }
  }

  /// Loses and refuses nothing anymore.
  func repair() {
    state.withLock { ($0.isFaulty, $0.isReadOnly) = (false, false) }
  }

  /// Carries a request to the peer, and returns the answer.
  func ask(_ request: [UInt8]) async throws -> [UInt8] {
    let isAlone = running.withLock { count in
      count += 1
      return count == 1
    }
    defer { running.withLock { $0 -= 1 } }
    check(try SyncMessage(decoding: request), isAlone: isAlone)
    do {
      let bytes = try await carry(request)
      record(try? SyncMessage(decoding: bytes))
      return bytes
    } catch {
      // If the app cancels the pass, the line did not fail.
      let isCanceled = Task.isCancelled
      state.withLock { state in
        if !isCanceled, !calls.isCanceling { state.hasFailed = true }
      }
      throw error
    }
  }

  private func check(_ request: SyncMessage, isAlone: Bool) {
    let hasPart = request.part != nil
    state.withLock { state in
      if !isAlone { state.faults.append("two requests are on the way") }
      if hasPart, state.isRefused {
        if state.attempts == 0 {
          state.faults.append("a refused part comes again")
        }
        (state.isRefused, state.attempts) = (false, max(state.attempts - 1, 0))
      }
      let size = max(state.byteLimit / 2, 16 << 10)
      if state.hasFailed, request.byteLimit > size {
        state.faults.append(
          "\(request.byteLimit) bytes after an error with \(state.byteLimit)")
      }
      let early = state.askedEnd.map { $0 - time.uptime } ?? 0
      if early > 0 || state.needsDecision {
        if !state.isResumed {
          state.faults.append(
            early > 0
              ? "a request comes \(early) ms early"
              : "a route goes on without the app")
        }
        state.isResumed = false
      }
      (state.hasFailed, state.askedEnd, state.needsDecision) = (
        false, nil, false
      )
      state.byteLimit = request.byteLimit
    }
    counts.withLock {
      $0.requests += 1
      $0.parts += hasPart ? 1 : 0
    }
  }

  private func record(_ answer: SyncMessage?) {
    state.withLock { state in
      guard let answer else { return state.hasFailed = true }
      switch answer.refusal {
      case .denied where answer.version != nil: state.isRefused = true
      case .busy(let seconds):
        state.hasFailed = true
        state.askedEnd = time.uptime + Int64(min(seconds, 86_400)) * 1_000
      case .gone: state.needsDecision = true
      default: break
      }
      if answer.kind == .request { state.hasFailed = true }
    }
  }

  private func carry(_ request: [UInt8]) async throws -> [UInt8] {
    let (fault, delay, isReadOnly) = state.withLock { state in
      (
        state.isFaulty ? state.random.number(below: 20) : 19,
        state.isFaulty ? Int64(state.random.number(below: 4)) * 700 : 0,
        state.isReadOnly
      )
    }
    if delay > 0 { try await time.wait(until: time.uptime + delay) }
    if fault <= 10 { counts.withLock { $0.faults += 1 } }
    switch fault {
    case 0, 1: throw Offline()
    case 2, 3:
      _ = try await answer(request, isReadOnly)
      throw Offline()
    case 4: _ = try await answer(request, isReadOnly)
    case 5: return refusal(.busy(seconds: 7 + Int(delay) / 20), of: request)
    case 6: throw CancellationError()
    case 7: return request
    case 8: return Array("<html>".utf8)
    case 9:
      if let old = state.withLock(\.lastAnswer) { return old }
    case 10: return refusal(.gone, of: request)
    default: break
    }
    let bytes = try await answer(request, isReadOnly)
    state.withLock { $0.lastAnswer = bytes }
    return bytes
  }

  private func refusal(_ refusal: SyncRefusal, of request: [UInt8]) -> [UInt8] {
    let scope = try? SyncMessage(decoding: request).scope
    var message = SyncMessage(.answer, scope: scope ?? "")
    message.refusal = refusal
    return message.encoded()
  }
}
