// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The queues of requests that change scopes.
///
/// Without a queue, requests would wait for each other in the database. Queued
/// requests share a transaction, which is synced once. If one of them makes the
/// transaction fail, they are divided until only this one fails. In SQLite, only
/// one transaction at a time can write, so all scopes share a queue. Otherwise,
/// each scope has a queue.
final class HubWriteQueue: Sendable {
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

    /// Ends the request with an error.
    ///
    /// A change that an earlier attempt possibly saved fails as `disconnected`.
    func fail(_ error: any Error) {
      var error = error
      switch error {
      case StoreError.disconnected: break
      case _ where report.hasAdvanced:
        error = StoreError.disconnected(SQLError(.disconnected, "\(error)"))
      default: break
      }
      continuation.resume(returning: .failure(error))
    }
  }

  /// An error that the pool must not retry.
  private struct Final: Error { let error: StoreError }

  private struct State {
    /// The waiting requests of each queue that a task serves.
    var lines: [Line: HubLine<Request>] = [:]
    /// The transaction of each queue.
    var turns: [Line: Turn] = [:]
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
  /// Canceling the task has no effect if the change shares a transaction with
  /// one that is not canceled.
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
      let (request, turn) = state.withLock {
        ($0.lines[line]?.remove(place), $0.turns[line])
      }
      if let request {
        request.continuation.resume(returning: .failure(StoreError.canceled))
      } else {
        turn?.cancellation.cancel(place.number)
      }
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
      state.withLock { $0.turns[line] = turn }
      await make(turn, in: line)
      state.withLock { $0.turns[line] = nil }
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
      var attempts = 0
    }

    private let state: Locked<State>
    /// Whether the requests are a part of those of an earlier turn.
    private let isPart: Bool
    /// The cancellation of this turn and its parts.
    let cancellation: Cancellation

    /// Creates a turn whose requests are chosen later.
    init() {
      state = Locked(State())
      (isPart, cancellation) = (false, Cancellation())
    }

    /// Creates a turn with a part of the requests of an earlier one.
    init(_ requests: ArraySlice<Request>, of turn: Turn) {
      var part = turn.state.withLock { $0 }
      part.requests = Array(requests)
      state = Locked(part)
      (isPart, cancellation) = (true, turn.cancellation)
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
      on connection: HubConnection, within patience: Duration,
      choosing next: () -> [Request]
    ) throws -> [Outcome]? {
      var requests = state.withLock { state in
        let requests = state.requests ?? next()
        state.requests = requests
        state.start = state.start ?? .now
        state.attempts += 1
        return requests
      }
      if cancellation.containsAll(requests) { throw StoreError.canceled }
      var reports = requests.map(\.report)
      let result = Result<[Outcome], any Error> {
        try connection.make(
          requests.map { ($0.scope, $0.change) }, adding: &reports)
      }
      for i in requests.indices { requests[i].report = reports[i] }
      state.withLock { $0.requests = requests }
      if case .failure(let error as StoreError) = result,
        error.mayBeOfOneRequest
      {
        let isOver = isPart && .now - start > patience
        if requests.count > 1, !isOver { return nil }
        if isPart || isRefused { throw Final(error: error) }
      }
      return try result.get()
    }

    /// Whether the connection was lost repeatedly, although a new one was opened
    /// each time.
    ///
    /// The request is then more likely to be the reason than the server is, and
    /// the others must not wait for it.
    private var isRefused: Bool {
      state.withLock { $0.attempts > 2 } && .now - start > .seconds(1)
    }
  }

  /// The canceled requests of a turn.
  private final class Cancellation: Sendable {
    private struct State {
      var numbers: Set<Int> = []
      /// The part of the turn that is performed, and the task that does so.
      var part: (turn: Turn, task: Task<[Outcome]?, any Error>)?
    }

    private let state = Locked(State())

    /// Returns whether all of some requests are canceled, and any exist.
    func containsAll(_ requests: [Request]) -> Bool {
      !requests.isEmpty
        && state.withLock { state in
          requests.allSatisfy { state.numbers.contains($0.place.number) }
        }
    }

    /// Sets the task that performs a part.
    func begin(_ turn: Turn, in task: Task<[Outcome]?, any Error>) {
      state.withLock { $0.part = (turn, task) }
      check()
    }

    /// Forgets the part, which ended.
    func end() { state.withLock { $0.part = nil } }

    /// Cancels a request, and the task if all of its requests are canceled.
    func cancel(_ number: Int) {
      state.withLock { _ = $0.numbers.insert(number) }
      check()
    }

    private func check() {
      guard let (turn, task) = state.withLock({ $0.part }),
        containsAll(turn.requests ?? [])
      else { return }
      task.cancel()
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
      let outcomes = try await perform(turn, in: line)
      let requests = turn.requests ?? []
      guard let outcomes else {
        // Divide the requests until only the faulty one fails.
        let middle = requests.count / 2
        for half in [requests[..<middle], requests[middle...]] {
          await make(Turn(half, of: turn), in: line)
        }
        return
      }
      for (request, outcome) in zip(requests, outcomes) {
        request.continuation.resume(returning: outcome)
      }
    } catch let final as Final {
      fail(turn, in: line, by: final.error, isOfRequest: true)
    } catch {
      let isOfRequest =
        if case StoreError.limitExceeded = error { true } else { false }
      fail(turn, in: line, by: error, isOfRequest: isOfRequest)
    }
  }

  /// Performs the requests of a turn in a task of their own.
  private func perform(
    _ turn: Turn, in line: Line
  ) async throws -> [Outcome]? {
    let task = Task {
      try await pool.run {
        (turn.requests ?? waitingRequests(in: line)).map(\.call).min() ?? .now
      } _: { connection in
        defer { turn.isAwaited = pool.waitingCount > 0 }
        // Until a connection is free, more requests can join the transaction.
        return try turn.perform(on: connection, within: pool.patience) {
          state.withLock { $0.lines[line]?.removeNext() ?? [] }
        }
      }
    }
    turn.cancellation.begin(turn, in: task)
    // Otherwise, the turn would refer to itself, and stay in memory.
    defer { turn.cancellation.end() }
    return try await task.value
  }

  /// Ends the requests of a turn with an error.
  ///
  /// - Parameter isOfRequest: Whether the request is the reason.
  private func fail(
    _ turn: Turn, in line: Line, by error: any Error, isOfRequest: Bool
  ) {
    let requests = turn.requests ?? removeFailed(in: line, by: error)
    if isOfRequest {
      // Otherwise, a client that repeats the request without a pause would
      // take most of the time of the queue.
      let time = pause(after: turn)
      Task {
        try? await Task.sleep(for: time)
        for request in requests { request.fail(error) }
      }
    } else {
      for request in requests { request.fail(error) }
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
      let end = ContinuousClock.now - pool.patience
      return requests.filter { request in
        guard !mayPass || request.call <= end else { return false }
        return state.lines[line]?.remove(request.place) != nil
      }
    }
  }
}
