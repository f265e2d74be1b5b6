// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The queues of requests that change scopes.
///
/// Without a queue, requests would wait for each other in the database. Queued
/// requests share a transaction, which is synced once. If one of them makes the
/// transaction fail, they are divided until only this one fails. In SQLite, only
/// one transaction at a time can write, so all scopes share a queue. Otherwise,
/// each scope has a queue.
final class HubChanges: Sendable {
  private typealias Outcome = Result<MergeReport, any Error>

  /// The bytes of a scope's name, or an empty array for all scopes.
  private typealias Line = [UInt8]

  private struct Request {
    let place: HubPlace
    let call: ContinuousClock.Instant
    let scope: String
    let change: HubChange
    let continuation: CheckedContinuation<Outcome, Never>
    /// The reports of earlier attempts without an answer to `COMMIT`.
    var report = MergeReport()
  }

  private struct State {
    /// The waiting requests of each queue that a task serves.
    var lines: [Line: HubLine<Request>] = [:]
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
    state.withLock { $0.lines.values.reduce(0) { $0 + $1.requests.count } }
  }

  /// Performs a change.
  ///
  /// Canceling the task has an effect only while the change waits for its turn.
  func make(_ change: HubChange, in scope: String) async throws -> MergeReport {
    if Task.isCancelled { throw StoreError.canceled }
    let call = ContinuousClock.now
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    let place = HubPlace(
      number: number, scope: Array(scope.utf8),
      recordCount: change.recordCount)
    let line = hasOneWriter ? [] : place.scope
    let outcome: Outcome = await waiting { continuation in
      add(
        Request(
          place: place, call: call, scope: scope, change: change,
          continuation: continuation), to: line)
    } onCancel: {
      let request = state.withLock { $0.lines[line]?.remove(place) }
      request?.continuation.resume(returning: .failure(StoreError.canceled))
    }
    return try outcome.get()
  }

  private func add(_ request: Request, to line: Line) {
    let isServed = state.withLock { state in
      state.lines[line, default: HubLine()].append(request, at: request.place)
      defer { state.lines[line]?.isServed = true }
      return state.lines[line]?.isServed == true
    }
    if !isServed { Task { await serve(line) } }
  }

  /// Performs the changes of a queue until none can begin.
  private func serve(_ line: Line) async {
    while isAwaited(line) {
      let turn = Turn()
      await make(turn, in: line)
      rest(line, after: turn)
    }
  }

  /// Makes large requests wait if other requests waited for the last one.
  private func rest(_ line: Line, after turn: Turn) {
    let rests = state.withLock { state in
      let isAwaited = turn.isAwaited || state.lines[line]?.hasSmall == true
      let rests = turn.isLarge && isAwaited
      if rests { state.lines[line]?.isResting = true }
      return rests
    }
    guard rests else { return }
    let time = pause(after: turn)
    Task {
      try? await Task.sleep(for: time)
      let isServed = state.withLock { state in
        state.lines[line]?.isResting = false
        defer { state.lines[line]?.isServed = true }
        return state.lines[line]?.isServed ?? true
      }
      if !isServed { await serve(line) }
    }
  }

  /// Twice the time of a turn, so that similar ones take a third of the time.
  private func pause(after turn: Turn) -> Duration {
    min((.now - turn.start) * 2, pool.patience)
  }

  /// The requests of one transaction, which stay the same if it is retried.
  private final class Turn: Sendable {
    private struct State {
      var requests: [Request]?
      var start: ContinuousClock.Instant?
      var isAwaited = false
    }

    private let state: Locked<State>

    /// - Parameters:
    ///   - requests: The requests, or `nil` to choose them later.
    ///   - start: The start of an attempt that had more requests.
    init(
      _ requests: [Request]? = nil, since start: ContinuousClock.Instant? = nil
    ) {
      state = Locked(State(requests: requests, start: start))
    }

    var requests: [Request]? { state.withLock { $0.requests } }
    /// The start of the first attempt.
    var start: ContinuousClock.Instant {
      state.withLock { $0.start } ?? .now
    }

    /// Whether requests waited for the connection at the end of the turn.
    var isAwaited: Bool {
      get { state.withLock { $0.isAwaited } }
      set { state.withLock { $0.isAwaited = newValue } }
    }
    var isLarge: Bool {
      requests?.contains {
        $0.place.recordCount > HubLine<Request>.smallRecordCount
      } ?? false
    }

    /// Performs the requests.
    ///
    /// - Parameter next: A closure that chooses the requests.
    /// - Returns: The outcomes, or `nil` if the requests must be divided.
    func perform(
      on scopes: HubScopes, choosing next: () -> [Request]
    ) throws -> [Outcome]? {
      var requests = state.withLock { state in
        let requests = state.requests ?? next()
        state.requests = requests
        state.start = state.start ?? .now
        return requests
      }
      var reports = requests.map(\.report)
      let result = Result<[Outcome], any Error> {
        try scopes.make(
          requests.map { ($0.scope, $0.change) }, adding: &reports)
      }
      for i in requests.indices { requests[i].report = reports[i] }
      state.withLock { $0.requests = requests }
      if case .failure(let error as StoreError) = result,
        requests.count > 1, error.mayBeOfOneRequest
      {
        return nil
      }
      return try result.get()
    }
  }

  /// Returns whether a transaction can begin, and otherwise stops serving the
  /// queue.
  private func isAwaited(_ line: Line) -> Bool {
    state.withLock { state in
      guard let waiting = state.lines[line] else { return false }
      if waiting.isReady { return true }
      state.lines[line]?.isServed = false
      if waiting.isEmpty, !waiting.isResting { state.lines[line] = nil }
      return false
    }
  }

  private func make(_ turn: Turn, in line: Line) async {
    do {
      let outcomes = try await pool.run {
        (turn.requests ?? waitingRequests(in: line)).map(\.call).min() ?? .now
      } _: { scopes in
        defer { turn.isAwaited = pool.waitingCount > 0 }
        // Until a connection is free, more requests can join the transaction.
        return try turn.perform(on: scopes) {
          state.withLock { $0.lines[line]?.removeNext() ?? [] }
        }
      }
      let requests = turn.requests ?? []
      guard let outcomes else {
        // Divide the requests until only the faulty one fails.
        let middle = requests.count / 2
        for half in [requests[..<middle], requests[middle...]] {
          await make(Turn(Array(half), since: turn.start), in: line)
        }
        return
      }
      for (request, outcome) in zip(requests, outcomes) {
        request.continuation.resume(returning: outcome)
      }
    } catch {
      let requests = turn.requests ?? removeFailed(in: line, by: error)
      if case StoreError.limitExceeded = error {
        // Otherwise, a client that repeats the request without a pause would
        // take most of the time of the queue.
        let time = pause(after: turn)
        Task {
          try? await Task.sleep(for: time)
          answer(requests, error)
        }
      } else {
        answer(requests, error)
      }
    }
  }

  private func answer(_ requests: [Request], _ error: any Error) {
    for request in requests {
      request.continuation.resume(returning: .failure(error))
    }
  }

  private func waitingRequests(in line: Line) -> [Request] {
    state.withLock { $0.lines[line]?.requests ?? [] }
  }

  /// Removes the requests that ended because no connection could be opened.
  ///
  /// In an outage, each request waits for its own time. All that ended must be
  /// removed together: otherwise, each of them would delay the others.
  private func removeFailed(in line: Line, by error: any Error) -> [Request] {
    let mayPass = (error as? StoreError)?.mayPass ?? false
    return state.withLock { state in
      let requests = state.lines[line]?.requests ?? []
      let end = max(
        requests.map(\.call).min() ?? .now, .now - pool.patience)
      return requests.filter { request in
        guard !mayPass || request.call <= end else { return false }
        return state.lines[line]?.remove(request.place) != nil
      }
    }
  }
}
