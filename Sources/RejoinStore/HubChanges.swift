// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The queues of requests that change scopes.
///
/// Without a queue, requests would wait for each other in the database. Queued
/// requests share a transaction, which is synced once. In SQLite, only one
/// transaction at a time can write, so all scopes share a queue. Otherwise, each
/// scope has a queue.
final class HubChanges: Sendable {
  /// The maximum number of requests per transaction, which limits the wait.
  private static let limit = 64

  private typealias Outcome = Result<MergeReport, any Error>

  /// The bytes of a scope's name, or an empty array for all scopes.
  private typealias Line = [UInt8]

  private struct Request {
    let number: Int
    let scope: String
    let change: HubChange
    let continuation: CheckedContinuation<Outcome, Never>
  }

  private struct State {
    /// The waiting requests of each queue that a task serves.
    var lines: [Line: [Request]] = [:]
    /// The requests that were canceled before they started to wait.
    var canceled: Set<Int> = []
    var count = 0
  }

  private let pool: HubPool
  private let hasOneWriter: Bool
  private let state = Locked(State())

  init(_ pool: HubPool, hasOneWriter: Bool) {
    (self.pool, self.hasOneWriter) = (pool, hasOneWriter)
  }

  /// The number of requests that wait in all queues.
  var waitingCount: Int {
    state.withLock { $0.lines.values.reduce(0) { $0 + $1.count } }
  }

  /// Performs a change.
  ///
  /// Canceling the task has an effect only while the change waits for its turn.
  func make(_ change: HubChange, in scope: String) async throws -> MergeReport {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    let line = hasOneWriter ? [] : Array(scope.utf8)
    let outcome: Outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        add(
          Request(
            number: number, scope: scope, change: change,
            continuation: continuation), to: line)
      }
    } onCancel: {
      stopWaiting(number, in: line)
    }
    state.withLock { _ = $0.canceled.remove(number) }
    return try outcome.get()
  }

  private func add(_ request: Request, to line: Line) {
    enum Turn { case canceled, waits, serves }
    let turn = state.withLock { state -> Turn in
      if state.canceled.contains(request.number) { return .canceled }
      defer { state.lines[line, default: []].append(request) }
      return state.lines[line] == nil ? .serves : .waits
    }
    switch turn {
    case .canceled:
      request.continuation.resume(returning: .failure(StoreError.canceled))
    case .waits: break
    case .serves: Task { await serve(line) }
    }
  }

  private func stopWaiting(_ number: Int, in line: Line) {
    let request = state.withLock { state -> Request? in
      if let i = state.lines[line]?.firstIndex(where: { $0.number == number }) {
        return state.lines[line]?.remove(at: i)
      }
      // The request does not wait yet, or its transaction is in progress.
      state.canceled.insert(number)
      return nil
    }
    request?.continuation.resume(returning: .failure(StoreError.canceled))
  }

  /// Performs the changes of a queue until it is empty.
  private func serve(_ line: Line) async {
    while isAwaited(line) {
      let turn = Turn()
      // Until a connection is free, more requests can join the transaction.
      await make { turn.take { self.next(in: line) } }
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

  /// Returns whether requests are waiting, and otherwise removes the queue.
  private func isAwaited(_ line: Line) -> Bool {
    state.withLock { state in
      if state.lines[line]?.isEmpty == false { return true }
      state.lines[line] = nil
      return false
    }
  }

  private func next(in line: Line) -> [Request] {
    state.withLock { state in
      let requests = Array((state.lines[line] ?? []).prefix(HubChanges.limit))
      state.lines[line]?.removeFirst(requests.count)
      return requests
    }
  }

  private func make(
    _ requests: @escaping @Sendable () -> [Request]
  ) async {
    do {
      let outcomes = try await pool.run { scopes in
        try scopes.make(requests().map { ($0.scope, $0.change) })
      }
      for (request, outcome) in zip(requests(), outcomes) {
        request.continuation.resume(returning: outcome)
      }
    } catch let error as StoreError
      where requests().count > 1 && !error.mayPass
    {
      // Divide the requests until only the faulty one fails.
      let all = requests()
      await make { Array(all[..<(all.count / 2)]) }
      await make { Array(all[(all.count / 2)...]) }
    } catch {
      for request in requests() {
        request.continuation.resume(returning: .failure(error))
      }
    }
  }
}
