// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The connections of a hub, each on its own thread.
///
/// Requests receive connections in the order of their arrival.
final class HubPool: Sendable {
  private struct Waiter {
    let number: Int
    let continuation: CheckedContinuation<HubWorker?, Never>
  }

  private struct State {
    var idle: [HubWorker]
    var waiters: [Waiter] = []
    /// The requests that were canceled before they started to wait.
    var canceled: Set<Int> = []
    var count = 0
  }

  private let state: Locked<State>

  init(
    connections: Int, limits: Hub.Limits,
    _ connect: @escaping @Sendable () throws -> any SQLConnection,
    makeDeviceID: @escaping @Sendable () -> DeviceID
  ) {
    state = Locked(
      State(
        idle: (0..<connections).map { _ in
          HubWorker(connect, limits, makeDeviceID: makeDeviceID)
        }))
  }

  /// Runs `body` with a connection, and repeats it after a failure that may
  /// pass.
  func run<Value: Sendable>(
    _ body: @Sendable (HubScopes) throws -> Value
  ) async throws -> Value {
    guard let worker = await take() else { throw StoreError.canceled }
    defer { give(worker) }
    return try await worker.run(body)
  }

  /// Waits for a connection.
  ///
  /// - Returns: The worker, or `nil` if the task is canceled first.
  private func take() async -> HubWorker? {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    let worker = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (isReady, worker) = state.withLock { state in
          if state.canceled.contains(number) {
            return (true, nil as HubWorker?)
          }
          if let worker = state.idle.popLast() { return (true, worker) }
          state.waiters.append(
            Waiter(number: number, continuation: continuation))
          return (false, nil)
        }
        if isReady { continuation.resume(returning: worker) }
      }
    } onCancel: {
      stopWaiting(number)
    }
    state.withLock { _ = $0.canceled.remove(number) }
    return worker
  }

  private func stopWaiting(_ number: Int) {
    let waiter = state.withLock { state -> Waiter? in
      guard let i = state.waiters.firstIndex(where: { $0.number == number })
      else {
        state.canceled.insert(number)
        return nil
      }
      return state.waiters.remove(at: i)
    }
    waiter?.continuation.resume(returning: nil)
  }

  private func give(_ worker: HubWorker) {
    let waiter = state.withLock { state -> Waiter? in
      if state.waiters.isEmpty {
        state.idle.append(worker)
        return nil
      }
      return state.waiters.removeFirst()
    }
    waiter?.continuation.resume(returning: worker)
  }
}

/// A connection of a hub, which it opens on demand and reopens after a loss.
actor HubWorker {
  /// The maximum duration of the retries of a request.
  private static let patience = Duration.seconds(10)

  private let queue = SerialQueue("rejoin.hub")
  private let connect: @Sendable () throws -> any SQLConnection
  private let limits: Hub.Limits
  private let makeDeviceID: @Sendable () -> DeviceID
  private var scopes: HubScopes?

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    queue.asUnownedSerialExecutor()
  }

  init(
    _ connect: @escaping @Sendable () throws -> any SQLConnection,
    _ limits: Hub.Limits, makeDeviceID: @escaping @Sendable () -> DeviceID
  ) {
    (self.connect, self.makeDeviceID) = (connect, makeDeviceID)
    self.limits = limits
  }

  /// Runs `body`, which must be safe to repeat.
  func run<Value: Sendable>(
    _ body: @Sendable (HubScopes) throws -> Value
  ) async throws -> Value {
    let end = ContinuousClock.now + HubWorker.patience
    var pause = Duration.milliseconds(10)
    while true {
      do {
        let open = try scopes ?? open()
        scopes = open
        // Replace a connection in an unknown state.
        defer { if !open.isIdle { scopes = nil } }
        return try body(open)
      } catch let error as StoreError where error.mayPass {
        guard ContinuousClock.now + pause < end else { throw error }
      }
      do { try await Task.sleep(for: pause) } catch {
        throw StoreError.canceled
      }
      pause = min(pause * 2, .seconds(1))
    }
  }

  private func open() throws(StoreError) -> HubScopes {
    let connection: any SQLConnection
    do { connection = try connect() } catch let error as SQLError {
      throw StoreError(opening: error)
    } catch { throw .cannotOpen(SQLError(.cannotOpen, "\(error)")) }
    return try HubScopes(
      connection, limits: limits, makeDeviceID: makeDeviceID)
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
}
