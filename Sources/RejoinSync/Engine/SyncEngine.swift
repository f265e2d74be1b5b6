// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinStore

/// Syncs a store over its routes, and shows what is uploaded.
///
///     let engine = SyncEngine(store, routes: [
///       .http("server", scope: "list-17", url: url)
///     ])
///     await engine.start()
///
/// After ``start()``, the engine syncs two seconds after a save and tries again after
/// an error. Call ``sync()`` when the app starts, when a push message arrives, when
/// the network returns, and before the app goes to the background.
///
/// A *pass* asks each route once, one after another. The engine runs one pass at a
/// time. After an error, a route waits for a random time up to 2, 4, 8 and at most 300
/// seconds, or as long as the peer asks for, at most a day. A save ends the first kind
/// of wait, not the second one. A refusal that only the app can resolve stops the
/// route until ``resume(_:)`` or the next launch, see
/// ``SyncStatus/State/needsDecision``.
///
/// A store has one engine. To replace it, stop or release it first.
public actor SyncEngine {
  let store: ReplicaStore
  let time: SyncTime
  var runs: [RouteRun]
  let passEvents = Broadcast<SyncEvent>(keeping: 256)
  let newestStatuses = Broadcast<[SyncStatus]>(
    keeping: 1, startingWithNewest: true)

  private var isStarted = false
  private(set) var isStopped = false
  /// The time of the pass after a save, or `nil`.
  private var saveDue: Int64?
  private var timer: Task<Void, Never>?
  private var watch: Task<Void, Never>?
  private var current: Pass?
  private var following: Pass?
  private var callerCount = 0
  private var readingNotes: Task<Void, Never>?
  /// The version at the last change that the engine learned of.
  private var seenVersion = ReplicaVersion()
  var publication = Publication()

  /// Creates an engine, which waits for ``start()`` or ``sync()``.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - routes: The routes, in the order in which a pass asks them.
  /// - Precondition: The names of the routes differ, and the store has no other
  ///   engine that was not stopped.
  public init(_ store: ReplicaStore, routes: [SyncRoute]) {
    self.init(store, routes: routes, time: .system)
  }

  package init(_ store: ReplicaStore, routes: [SyncRoute], time: SyncTime) {
    demand(
      Set(routes.map(\.name)).count == routes.count,
      "The names of the routes of a `SyncEngine` must differ.")
    (self.store, self.time) = (store, time)
    runs = routes.map { RouteRun(route: $0) }
    takeStore()
  }

  deinit {
    timer?.cancel()
    watch?.cancel()
    publication.task?.cancel()
  }

  private nonisolated func takeStore() {
    demand(
      store.engine.take(for: self),
      "A store must have one `SyncEngine`. Stop the other one first.")
  }

  /// The events of the passes from now on.
  ///
  /// The sequence keeps the newest 256 events.
  public nonisolated var events: AsyncStream<SyncEvent> { passEvents.stream() }

  /// The statuses of all routes, starting with the present ones.
  ///
  /// The sequence has an element if a status changed, at most ten times a second, and
  /// keeps the newest one. It does not keep the engine, and ends with it.
  public nonisolated var statuses: AsyncStream<[SyncStatus]> {
    Task { await self.watchSaves() }
    return newestStatuses.stream()
  }

  /// Syncs from now on after saves and waits.
  ///
  /// Saves that another device sends through `answer` count as well, because it may
  /// never reach the routes itself. To receive at launch, also call ``sync()``.
  ///
  /// - Precondition: The store has no other engine that was not stopped.
  public func start() async {
    if isStarted { return }
    takeStore()
    (isStarted, isStopped) = (true, false)
    await watchSaves()
    // The last launch can have left saves.
    if canSend(await store.version) { planPass() }
    plan()
  }

  /// Ends the current pass, and starts none until ``start()``.
  ///
  /// When the method returns, no request is on its way.
  public func stop() async {
    (isStarted, isStopped) = (false, true)
    timer?.cancel()
    (timer, saveDue) = (nil, nil)
    for pass in [current, following] { pass?.task.cancel() }
    _ = await current?.task.value
    _ = await following?.task.value
    if isStopped { store.engine.release(from: self) }
    await publish()
  }

  /// Performs a pass over all routes.
  ///
  /// Calls during a pass share the next one. If the task of each caller is canceled,
  /// and the engine itself does not need the pass, it ends early.
  ///
  /// - Returns: The statuses after the pass. After ``stop()``, no pass runs.
  @discardableResult
  public func sync() async -> [SyncStatus] {
    await watchSaves()
    if isStopped { return await publish() }
    callerCount += 1
    let caller = callerCount
    let task = requestPass(of: .all, by: caller)
    return await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      Task { await self.leave(caller) }
    }
  }

  /// Continues a route after ``SyncStatus/State/needsDecision`` or refused saves.
  ///
  /// - Precondition: A route has the name.
  public func resume(_ route: String) {
    let index = runs.firstIndex { $0.route.name == route }
    demand(index != nil, "A route must have the name \"\(route)\".")
    if let index { runs[index].schedule.resume() }
    saveDue = time.uptime()
    plan()
  }

  /// Whether a pass runs.
  package var isPassing: Bool { current != nil }

  /// The time of the next pass that the engine planned, or `nil`.
  package var plannedTime: Int64? { isStarted ? nextTime : nil }
}

// Saves, waits and passes.
extension SyncEngine {
  /// The time between a save and a pass, in milliseconds.
  private static let delayOfSave: Int64 = 2_000

  /// The routes that a pass includes.
  private enum Selection {
    /// Those whose wait ended.
    case waiting
    /// All, except those that wait for the app or for a peer.
    case all
  }

  private struct Pass {
    let task: Task<[SyncStatus], Never>
    var selection: Selection
    /// The callers of `sync()` that wait for the pass.
    var callers: Set<Int> = []
    /// Whether the engine needs the pass itself.
    var isOwn = false
  }

  private func watchSaves() async {
    await readNotes()
    let version = await store.version
    if watch == nil {
      seenVersion = version
      watch = Task { [weak self, changes = store.versionChanges] in
        for await _ in changes { await self?.recordChange() }
        if !Task.isCancelled { await self?.end() }
      }
    }
    await publish()
  }

  private func readNotes() async {
    let reading =
      readingNotes
      ?? Task {
        for i in runs.indices {
          let note = await store.note(
            RouteNote.name(ofRoute: runs[i].route.name))
          runs[i].take(note.flatMap(RouteNote.init(decoding:)))
        }
      }
    readingNotes = reading
    await reading.value
  }

  private func recordChange() async {
    let (version, hasSaved) = await store.version(after: seenVersion)
    seenVersion = version
    if hasSaved {
      for i in runs.indices { runs[i].schedule.save() }
      planPass()
    } else if current == nil, canSend(version) {
      // Another device sent saves, perhaps for the last time.
      planPass()
    }
    plan()
    await publish()
  }

  /// Records that the store was closed or superseded.
  private func end() async {
    for i in runs.indices { runs[i].schedule.stop() }
    saveDue = nil
    plan()
    await publish()
  }

  /// Returns whether a route that does not wait lacks saves of a version.
  private func canSend(_ version: ReplicaVersion) -> Bool {
    runs.contains { $0.canSend(version) }
  }

  private func planPass() {
    saveDue = saveDue ?? time.uptime() + SyncEngine.delayOfSave
  }

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
    (runs.compactMap(\.schedule.end) + [saveDue].compactMap { $0 }).min()
  }

  private func wake() {
    guard isStarted else { return }
    let isSave = saveDue.map { $0 <= time.uptime() } ?? false
    requestPass(of: isSave ? .all : .waiting, by: nil)
  }

  @discardableResult
  private func requestPass(
    of selection: Selection, by caller: Int?
  ) -> Task<[SyncStatus], Never> {
    let running = current
    var pass =
      following
      ?? Pass(
        task: Task {
          _ = await running?.task.value
          return await perform()
        }, selection: selection)
    if selection == .all { pass.selection = .all }
    if let caller { pass.callers.insert(caller) } else { pass.isOwn = true }
    if running == nil { current = pass } else { following = pass }
    return pass.task
  }

  /// Cancels the pass of a caller that does not wait for it, unless it is needed.
  private func leave(_ caller: Int) {
    func leave(_ pass: inout Pass?) {
      guard pass?.callers.remove(caller) != nil else { return }
      if pass?.callers.isEmpty == true, pass?.isOwn == false {
        pass?.task.cancel()
      }
    }
    leave(&current)
    leave(&following)
  }

  private func perform() async -> [SyncStatus] {
    timer?.cancel()
    let selection = current?.selection ?? .all
    if selection == .all { saveDue = nil }
    for i in runs.indices where !Task.isCancelled {
      let isReady = runs[i].schedule.isDue(
        at: time.uptime(), includingOthers: selection == .all)
      if isReady { await ask(i) }
    }
    // Saves that a canceled pass left, or that arrived after their route was asked,
    // must not wait for another save.
    let version = await store.version
    if isStarted, Task.isCancelled || canSend(version) { planPass() }
    (current, following) = (following, nil)
    let statuses = await publish()
    plan()
    return statuses
  }
}
