// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The connections of a hub, each on its own thread.
///
/// Requests receive connections in the order of their arrival.
final class HubPool: Sendable {
  private struct State {
    var idle: [HubWorker]
    var waiting = WaitingQueue<Int, CheckedContinuation<HubWorker?, Never>>()
    var count = 0
  }

  /// The maximum duration of the retries of a request.
  let patience: Duration
  private let state: Locked<State>

  init(
    connections: Int, limits: Hub.Limits, patience: Duration = .seconds(10),
    _ connect: @escaping @Sendable () throws -> any SQLConnection,
    makeDeviceID: @escaping @Sendable () -> DeviceID
  ) {
    self.patience = patience
    state = Locked(
      State(
        idle: (0..<connections).map { _ in
          HubWorker(connect, limits, patience, makeDeviceID: makeDeviceID)
        }))
  }

  /// The number of requests that wait for a connection.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Runs `body` with a connection, and repeats it after a failure that may
  /// pass.
  func run<Value: Sendable>(
    _ body: @Sendable (HubConnection) throws -> Value
  ) async throws -> Value {
    let call = ContinuousClock.now
    return try await run(since: { call }, body)
  }

  /// Runs `body` with a connection.
  ///
  /// - Parameter call: A closure that returns the time of the call. If the
  ///   request waited during an outage, its retries end earlier.
  func run<Value: Sendable>(
    since call: @Sendable () -> ContinuousClock.Instant,
    _ body: @Sendable (HubConnection) throws -> Value
  ) async throws -> Value {
    guard !Task.isCancelled, let worker = await take() else {
      throw StoreError.canceled
    }
    defer { give(worker) }
    return try await worker.run(since: call, body)
  }

  /// Waits for a connection.
  ///
  /// - Returns: The worker, or `nil` if the task is canceled first.
  private func take() async -> HubWorker? {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    return await waiting { continuation in
      let worker = state.withLock { state -> HubWorker? in
        if let worker = state.idle.popLast() { return worker }
        state.waiting.append(continuation, for: number)
        return nil
      }
      if let worker { continuation.resume(returning: worker) }
    } onCancel: {
      let waiter = state.withLock { $0.waiting.remove(number) }
      waiter?.resume(returning: nil)
    }
  }

  private func give(_ worker: HubWorker) {
    let waiter = state.withLock { state in
      let waiter = state.waiting.removeFirst()
      if waiter == nil { state.idle.append(worker) }
      return waiter
    }
    waiter?.resume(returning: worker)
  }
}

/// A connection of a hub, which it opens on demand and reopens after a loss.
actor HubWorker {
  /// A failure that may pass.
  private struct Failure {
    let error: StoreError
    /// The start of the first attempt that failed.
    let start: ContinuousClock.Instant
    let pause: Duration
    let nextAttempt: ContinuousClock.Instant

    init(
      _ error: StoreError, since start: ContinuousClock.Instant,
      after last: Failure?
    ) {
      self.error = error
      self.start = last?.start ?? start
      pause = last.map { min($0.pause * 2, .seconds(1)) } ?? .milliseconds(10)
      nextAttempt = .now + pause
    }
  }

  private let queue = SerialQueue("rejoin.hub")
  private let connect: @Sendable () throws -> any SQLConnection
  private let limits: Hub.Limits
  private let patience: Duration
  private let makeDeviceID: @Sendable () -> DeviceID
  private var connection: HubConnection?
  /// The failure of the last attempt to connect, until one succeeds.
  private var outage: Failure?

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    queue.asUnownedSerialExecutor()
  }

  init(
    _ connect: @escaping @Sendable () throws -> any SQLConnection,
    _ limits: Hub.Limits, _ patience: Duration,
    makeDeviceID: @escaping @Sendable () -> DeviceID
  ) {
    (self.connect, self.makeDeviceID) = (connect, makeDeviceID)
    (self.limits, self.patience) = (limits, patience)
  }

  /// Runs `body`, which must be safe to repeat.
  func run<Value: Sendable>(
    since call: @Sendable () -> ContinuousClock.Instant,
    _ body: @Sendable (HubConnection) throws -> Value
  ) async throws -> Value {
    var failure = outage
    while true {
      if let failure { try await wait(after: failure, since: call()) }
      let start = ContinuousClock.now
      let open: HubConnection
      do { open = try connection ?? self.open() } catch let error as StoreError
        where error.mayPass
      {
        failure = Failure(error, since: start, after: failure)
        outage = failure
        continue
      }
      (connection, outage) = (open, nil)
      do {
        // Replace a connection in an unknown state.
        defer { if !open.isIdle { connection = nil } }
        return try body(open)
      } catch let error as StoreError where error.mayPass {
        failure = Failure(error, since: start, after: failure)
      } catch StoreError.readOnly(let error) where !open.hasOneWriter {
        // The session is on a standby server, and a new one may not be. All
        // requests that waited end together, each after an attempt.
        connection = nil
        failure = Failure(.readOnly(error), since: call(), after: failure)
      }
    }
  }

  /// Waits for the next attempt.
  ///
  /// The patience starts with the request or, if it is later, with the failure.
  /// A wait for a busy connection does not shorten it.
  ///
  /// - Throws: The failure, if the patience ends first.
  private func wait(
    after failure: Failure, since call: ContinuousClock.Instant
  ) async throws {
    let end = max(failure.start, call) + patience
    do {
      try await Task.sleep(until: min(failure.nextAttempt, end))
    } catch { throw StoreError.canceled }
    if failure.nextAttempt >= end { throw failure.error }
  }

  private func open() throws(StoreError) -> HubConnection {
    let connection: any SQLConnection
    do { connection = try connect() } catch let error as SQLError {
      throw StoreError(opening: error)
    } catch { throw .cannotOpen(SQLError(.cannotOpen, "\(error)")) }
    do {
      return try HubConnection(
        connection, limits: limits, makeDeviceID: makeDeviceID)
    } catch .limitExceeded(let error) {
      // The first statements are small, so the server is overloaded.
      throw .unavailable(error)
    }
  }
}

extension StoreError {
  /// Whether the same request may succeed later.
  var mayPass: Bool {
    switch self {
    case .busy, .unavailable, .disconnected: true
    default: false
    }
  }

  /// Whether the other requests of the transaction can succeed without the one
  /// that failed.
  ///
  /// An error of connecting or of a lock concerns all of them.
  var mayBeOfOneRequest: Bool {
    switch self {
    case .disconnected: true
    case .readOnly, .canceled: false
    default: !mayPass
    }
  }
}
