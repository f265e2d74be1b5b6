// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinStore

/// Syncs a store over its routes, and shows the user what is uploaded.
///
///     let engine = SyncEngine(store, routes: [
///       SyncRoute("server", scope: "list-17") { try await post($0) }
///     ])
///     await engine.start()
///
/// After ``start()``, the engine syncs two seconds after a save and tries again after
/// an error. Call ``sync()`` when the app starts, when a push message arrives, and
/// when the network returns.
///
/// A store has one engine. The engine runs one pass at a time, and its routes one
/// after another.
public actor SyncEngine {
  /// The time between a save and a pass, in milliseconds.
  private static let delayOfSave: Int64 = 2_000

  private struct Run {
    let route: SyncRoute
    var schedule = RouteSchedule()
    /// The version that the route showed last, or `nil`.
    var shown: ReplicaVersion?
    var lastSynced: Int64?
    var error: (any Error)?
    var isSyncing = false
    /// Whether the route was asked since the launch.
    var wasAsked = false
  }

  private let store: ReplicaStore
  private let time: SyncTime
  private var runs: [Run]
  private var hasReadNotes = false
  private var isStarted = false
  private var isStopped = false
  private var current: Task<[SyncStatus], Never>?
  private var following: Task<[SyncStatus], Never>?
  private var timer: Task<Void, Never>?
  private var watch: Task<Void, Never>?
  /// The time of the pass after a save, or `nil`.
  private var saveDue: Int64?
  private let eventStreams = SyncEvents()
  private let statusStreams = SyncStatuses()

  /// Creates an engine.
  ///
  /// - Precondition: The names of the routes differ, and the store has no other
  ///   engine that was not stopped.
  public init(_ store: ReplicaStore, routes: [SyncRoute]) {
    self.init(store, routes: routes, time: .system)
  }

  package init(_ store: ReplicaStore, routes: [SyncRoute], time: SyncTime) {
    demand(
      Set(routes.map(\.name)).count == routes.count,
      "the names of the routes of a `SyncEngine` must differ")
    (self.store, self.time) = (store, time)
    runs = routes.map { Run(route: $0) }
  }

  deinit {
    timer?.cancel()
    watch?.cancel()
  }

  /// Events of the passes from now on.
  ///
  /// A stream keeps the newest 256 events.
  public nonisolated var events: AsyncStream<SyncEvent> {
    eventStreams.stream()
  }

  /// The statuses of all routes, starting with the present ones.
  ///
  /// A stream keeps the newest statuses.
  public nonisolated var statuses: AsyncStream<[SyncStatus]> {
    let stream = statusStreams.stream()
    Task { await self.publish() }
    return stream
  }
}

// Starting and stopping.
extension SyncEngine {
  /// Syncs from now on after saves and waits.
  public func start() {
    if isStarted { return }
    (isStarted, isStopped) = (true, false)
    watch = Task { [weak self, store] in
      let saves = await store.savesMade()
      // A save can be older than the stream.
      await self?.findSaves()
      for await _ in saves {
        guard let self else { return }
        await self.recordSave()
      }
    }
    plan()
  }

  /// Ends the current pass, and syncs no more.
  ///
  /// When the method returns, no request is on its way.
  public func stop() async {
    (isStarted, isStopped) = (false, true)
    for task in [timer, watch] { task?.cancel() }
    (timer, watch, saveDue) = (nil, nil, nil)
    for task in [current, following] { task?.cancel() }
    _ = await current?.value
    _ = await following?.value
    await publish()
  }

  /// Lets a route continue after an error that needs a decision, or after refused
  /// saves.
  public func resume(_ name: String) {
    for i in runs.indices where runs[i].route.name == name {
      runs[i].schedule.resume()
    }
    saveDue = saveDue ?? time.uptime()
    plan()
  }

  /// Waits until no pass runs, and no save waits to be seen.
  package func settle() async {
    while let task = following ?? current { _ = await task.value }
  }

  /// The time of the next pass that the engine planned, or `nil`.
  package var plannedTime: Int64? { isStarted ? nextTime : nil }

  private func findSaves() async {
    await readNotes()
    let version = await store.version
    let hasUnsent = runs.contains { $0.shown?.covers(version) != true }
    if hasUnsent, !version.vectorClock.entries.isEmpty { recordSave() }
  }

  private func recordSave() {
    for i in runs.indices { runs[i].schedule.save() }
    saveDue = saveDue ?? time.uptime() + SyncEngine.delayOfSave
    plan()
  }

  /// Plans the next pass.
  private func plan() {
    timer?.cancel()
    timer = nil
    guard isStarted, current == nil, let end = nextTime else { return }
    timer = Task { [weak self, time] in
      do { try await time.wait(end) } catch { return }
      await self?.wake()
    }
  }

  private var nextTime: Int64? {
    let waits = runs.compactMap { run -> Int64? in
      if case .waiting(let end, _) = run.schedule.state { return end }
      return nil
    }
    return (waits + [saveDue].compactMap { $0 }).min()
  }

  private func wake() async {
    let isSave = saveDue.map { $0 <= time.uptime() } ?? false
    _ = await requested(by: isSave ? .save : .wait).value
  }
}

// Passes.
extension SyncEngine {
  /// The reason of a pass, which decides what it includes.
  private enum Reason { case app, save, wait }

  /// Performs a pass over all routes.
  ///
  /// Calls during a pass share the next one.
  ///
  /// - Returns: The statuses after the pass.
  @discardableResult
  public func sync() async -> [SyncStatus] {
    await requested(by: .app).value
  }

  private func requested(by reason: Reason) -> Task<[SyncStatus], Never> {
    if let following { return following }
    let previous = current
    let task = Task {
      _ = await previous?.value
      return await perform(reason)
    }
    if previous == nil { current = task } else { following = task }
    return task
  }

  private func perform(_ reason: Reason) async -> [SyncStatus] {
    timer?.cancel()
    if reason != .wait { saveDue = nil }
    await readNotes()
    for i in runs.indices where !Task.isCancelled && isDue(i, reason) {
      await pass(i)
    }
    (current, following) = (following, nil)
    let statuses = await publish()
    plan()
    return statuses
  }

  private func isDue(_ i: Int, _ reason: Reason) -> Bool {
    let now = time.uptime()
    if reason == .wait, case .ready = runs[i].schedule.state { return false }
    return runs[i].schedule.isDue(at: now, includingRetries: reason != .wait)
  }

  private func pass(_ i: Int) async {
    let run = runs[i]
    let recorder = PassRecorder(
      of: run.route.name, isFirst: !run.wasAsked, events: eventStreams,
      now: time.now)
    (runs[i].wasAsked, runs[i].isSyncing) = (true, true)
    await publish()
    let before = await store.version
    var failure: (any Error)?
    do {
      let call = SyncCall(
        scope: run.route.scope, bytesPerPart: run.schedule.bytesPerPart,
        assuming: run.shown, uploads: run.schedule.uploads)
      let result = try await store.sync(call, asking: run.route.ask) {
        recorder.record($0)
      }
      runs[i].schedule.succeed(refusing: result.uploadRefusal)
      runs[i].lastSynced = time.now()
    } catch {
      failure = error
      // The route's own tasks can be canceled, too.
      if !Task.isCancelled {
        let version = await store.version
        let hasProgressed =
          !before.continues(version)
          || recorder.shown.map { !(run.shown?.continues($0) ?? false) }
            ?? false
        runs[i].schedule.fail(
          error, hasProgressed: hasProgressed, at: time.uptime(),
          random: time.random)
      }
    }
    recorder.finish(failure)
    (runs[i].error, runs[i].isSyncing) = (failure, false)
    if let shown = recorder.shown, shown != run.shown {
      runs[i].shown = shown
    }
    await writeNote(i)
    await publish()
  }
}

// Notes and statuses.
extension SyncEngine {
  private func readNotes() async {
    if hasReadNotes { return }
    hasReadNotes = true
    for i in runs.indices {
      let bytes = await store.note(runs[i].route.noteName)
      guard let note = bytes.flatMap(RouteNote.init(decoding:)) else {
        continue
      }
      (runs[i].shown, runs[i].lastSynced) = (note.shown, note.lastSynced)
    }
  }

  /// Writes what a route showed, unless it is written already.
  private func writeNote(_ i: Int) async {
    guard let shown = runs[i].shown else { return }
    let note = RouteNote(shown: shown, lastSynced: runs[i].lastSynced)
    // A note may be lost.
    try? await store.setNote(runs[i].route.noteName, to: note.encoded())
  }

  @discardableResult
  private func publish() async -> [SyncStatus] {
    await readNotes()
    let version = await store.version
    let statuses = runs.map { run in
      SyncStatus(
        route: run.route.name, state: state(of: run), error: run.error,
        uploadRefusal: run.schedule.uploadRefusal,
        unsentSaves: version.saveCount(beyond: run.shown),
        isSynced: run.shown.map {
          $0.covers(version) && version.covers($0)
        } ?? false,
        lastSynced: run.lastSynced)
    }
    statusStreams.send(statuses)
    return statuses
  }

  private func state(of run: Run) -> SyncStatus.State {
    if run.isSyncing { return .syncing }
    if isStopped { return .stopped }
    switch run.schedule.state {
    case .ready: return .idle
    case .waiting(let end, _):
      return .waiting(until: time.now() + max(end - time.uptime(), 0))
    case .needsDecision: return .needsDecision
    case .stopped: return .stopped
    }
  }
}
