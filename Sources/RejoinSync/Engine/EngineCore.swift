// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinStore

/// The state of a ``SyncEngine``, which its own tasks can outlive for a moment.
actor EngineCore {
  /// The engine whose route runs the current task, or `nil`.
  @TaskLocal static var asking: ObjectIdentifier?

  /// The routes that a pass includes.
  private enum Selection {
    /// Routes whose wait ended, or whose planned time came.
    case due
    /// All routes except those that wait for the app or for a peer.
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

  nonisolated let store: ReplicaStore
  let time: SyncTime
  var runs: [RouteRun]
  nonisolated let events = Broadcast<SyncEvent>(keeping: 256)
  nonisolated let statuses = Broadcast<[SyncStatus]>(
    keeping: 1, startingWithNewest: true)
  var publication = Publication()

  private var isStarted = false
  private(set) var isStopped = false
  private var timer: Task<Void, Never>?
  private var watch: Task<Void, Never>?
  /// The pass that runs, and those that follow it.
  private var passes: [Pass] = []
  private var callerCount = 0
  private var readingNotes: Task<Void, Never>?
  /// The version at the last change that the engine learned of.
  private var seenVersion = ReplicaVersion()

  init(_ store: ReplicaStore, routes: [SyncRoute], time: SyncTime) {
    (self.store, self.time) = (store, time)
    runs = routes.map { RouteRun(route: $0) }
  }

  deinit {
    timer?.cancel()
    watch?.cancel()
    publication.task?.cancel()
  }

  var isPassing: Bool { !passes.isEmpty }
  var plannedTime: Int64? { isStarted ? nextTime : nil }
  /// Whether the current task runs in the closure of a route.
  private var isAsking: Bool { EngineCore.asking == ObjectIdentifier(self) }

  func start() async {
    if isStarted { return }
    (isStarted, isStopped) = (true, false)
    await watchStore()
    // The last launch can have left saves.
    let version = await store.version
    planPass(of: { $0.canSend(version) })
    for i in runs.indices { runs[i].planRelay(time) }
    plan()
  }

  func stop() async {
    (isStarted, isStopped) = (false, true)
    timer?.cancel()
    timer = nil
    for i in runs.indices { runs[i].due = nil }
    for pass in passes { pass.task.cancel() }
    if !isAsking {
      for pass in passes { _ = await pass.task.value }
    }
    await publish()
  }

  func sync() async -> [SyncStatus] {
    await watchStore()
    if isStopped { return await publish() }
    if isAsking {
      requestPass(of: .all, by: nil)
      return await publish()
    }
    callerCount += 1
    let caller = callerCount
    let task = requestPass(of: .all, by: caller)
    return await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      Task { await self.leave(caller) }
    }
  }

  func resume(_ route: String) {
    let index = runs.firstIndex { $0.route.name == route }
    demand(index != nil, "A route must have the name \"\(route)\".")
    if let index {
      runs[index].resume(at: time.uptime())
    }
    plan()
  }
}

// Changes of the store.
extension EngineCore {
  func watchStore() async {
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
          runs[i].take(
            await store.note(runs[i].noteName),
            remembering: await store.note(runs[i].memoryName))
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
      planPass(of: { _ in true })
    } else if passes.isEmpty {
      // Another device sent saves, perhaps for the last time.
      planPass(of: { $0.canSend(version) })
    }
    plan()
    await publish()
  }

  /// Records that the store was closed or superseded.
  private func end() async {
    for i in runs.indices {
      runs[i].schedule.stop()
      runs[i].due = nil
    }
    plan()
    await publish()
  }
}

// Plans and passes.
extension EngineCore {
  /// Plans a pass over some routes, unless one is planned.
  private func planPass(of isIncluded: (RouteRun) -> Bool) {
    for i in runs.indices where isIncluded(runs[i]) {
      runs[i].plan(at: time.uptime() + runs[i].route.delayOfSave)
    }
  }

  private func plan() {
    timer?.cancel()
    timer = nil
    guard isStarted, passes.isEmpty, let end = nextTime else { return }
    timer = Task { [weak self, time] in
      do { try await time.wait(end) } catch { return }
      await self?.wake()
    }
  }

  private var nextTime: Int64? {
    runs.flatMap { [$0.schedule.end, $0.due] }.compactMap { $0 }.min()
  }

  private func wake() {
    guard isStarted else { return }
    requestPass(of: .due, by: nil)
  }

  /// Adds a pass after the current one, unless one that was not canceled follows it.
  @discardableResult
  private func requestPass(
    of selection: Selection, by caller: Int?
  ) -> Task<[SyncStatus], Never> {
    let last = passes.last?.task
    if passes.count < 2 || last?.isCancelled == true {
      let task = Task {
        _ = await last?.value
        return await perform()
      }
      passes.append(Pass(task: task, selection: selection))
    }
    let i = passes.count - 1
    if selection == .all { passes[i].selection = .all }
    if let caller {
      passes[i].callers.insert(caller)
    } else {
      passes[i].isOwn = true
    }
    return passes[i].task
  }

  /// Cancels the pass of a caller that does not wait for it, unless it is needed.
  private func leave(_ caller: Int) {
    for i in passes.indices where passes[i].callers.remove(caller) != nil {
      if passes[i].callers.isEmpty, !passes[i].isOwn { passes[i].task.cancel() }
    }
  }

  private func perform() async -> [SyncStatus] {
    timer?.cancel()
    let selection = passes.first?.selection ?? .all
    for i in runs.indices where !Task.isCancelled {
      let now = time.uptime()
      let isPlanned = runs[i].due.map { $0 <= now } ?? false
      let isReady = runs[i].schedule.isDue(
        at: now, includingOthers: selection == .all || isPlanned)
      if isReady || isPlanned { runs[i].due = nil }
      if isReady { await ask(i) }
    }
    // Saves that a canceled pass left, or that arrived after their route was asked,
    // must not wait for another save.
    let version = await store.version
    if isStarted {
      planPass(of: { Task.isCancelled || $0.canSend(version) })
    }
    if !passes.isEmpty { passes.removeFirst() }
    let statuses = await publish()
    plan()
    return statuses
  }
}
