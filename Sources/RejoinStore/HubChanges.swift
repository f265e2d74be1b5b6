// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The queues of requests that change scopes, one for each scope.
///
/// Without a queue, requests would wait for each other in the database. Queued
/// requests of a scope share a transaction, which is synced once.
final class HubChanges: Sendable {
  /// The maximum number of requests per transaction, which limits the wait.
  private static let limit = 64

  private typealias Outcome = Result<MergeReport, any Error>

  private struct Request {
    let number: Int
    let change: HubChange
    let continuation: CheckedContinuation<Outcome, Never>
  }

  private struct State {
    /// The waiting requests of each scope whose queue a task serves.
    var lines: [String: [Request]] = [:]
    /// The requests that were canceled before they started to wait.
    var canceled: Set<Int> = []
    var count = 0
  }

  private let pool: HubPool
  private let state = Locked(State())

  init(_ pool: HubPool) { self.pool = pool }

  /// Performs a change.
  ///
  /// Canceling the task has an effect only while the change waits for its turn.
  func make(_ change: HubChange, in scope: String) async throws -> MergeReport {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    let outcome: Outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        add(
          Request(
            number: number, change: change, continuation: continuation),
          in: scope)
      }
    } onCancel: {
      stopWaiting(number, in: scope)
    }
    state.withLock { _ = $0.canceled.remove(number) }
    return try outcome.get()
  }

  private func add(_ request: Request, in scope: String) {
    enum Turn { case canceled, waits, serves }
    let turn = state.withLock { state -> Turn in
      if state.canceled.contains(request.number) { return .canceled }
      defer { state.lines[scope, default: []].append(request) }
      return state.lines[scope] == nil ? .serves : .waits
    }
    switch turn {
    case .canceled:
      request.continuation.resume(returning: .failure(StoreError.canceled))
    case .waits: break
    case .serves: Task { await serve(scope) }
    }
  }

  private func stopWaiting(_ number: Int, in scope: String) {
    let request = state.withLock { state -> Request? in
      if let i = state.lines[scope]?.firstIndex(where: { $0.number == number })
      {
        return state.lines[scope]?.remove(at: i)
      }
      // The request does not wait yet, or its transaction is in progress.
      state.canceled.insert(number)
      return nil
    }
    request?.continuation.resume(returning: .failure(StoreError.canceled))
  }

  /// Performs the changes of a scope until its queue is empty.
  private func serve(_ scope: String) async {
    while isAwaited(scope) {
      let turn = Turn()
      // Until a connection is free, more requests can join the transaction.
      await make(in: scope) { turn.take { self.next(in: scope) } }
    }
  }

  /// The requests of one transaction, which stay the same if it is retried.
  private final class Turn: Sendable {
    private let requests = Locked<[Request]?>(nil)

    func take(_ next: () -> [Request]) -> [Request] {
      requests.withLock { requests in
        let taken = requests ?? next()
        requests = taken
        return taken
      }
    }
  }

  /// Returns whether requests of a scope are waiting, and otherwise removes the
  /// queue.
  private func isAwaited(_ scope: String) -> Bool {
    state.withLock { state in
      if state.lines[scope]?.isEmpty == false { return true }
      state.lines[scope] = nil
      return false
    }
  }

  private func next(in scope: String) -> [Request] {
    state.withLock { state in
      let requests = Array((state.lines[scope] ?? []).prefix(HubChanges.limit))
      state.lines[scope]?.removeFirst(requests.count)
      return requests
    }
  }

  private func make(
    in scope: String, _ requests: @escaping @Sendable () -> [Request]
  ) async {
    do {
      let outcomes = try await pool.run { scopes in
        try scopes.make(requests().map(\.change), in: scope)
      }
      for (request, outcome) in zip(requests(), outcomes) {
        request.continuation.resume(returning: outcome)
      }
    } catch let error as StoreError
      where requests().count > 1 && !error.mayPass
    {
      // Run the requests separately, so only the faulty request fails.
      for request in requests() { await make(in: scope) { [request] } }
    } catch {
      for request in requests() {
        request.continuation.resume(returning: .failure(error))
      }
    }
  }
}
