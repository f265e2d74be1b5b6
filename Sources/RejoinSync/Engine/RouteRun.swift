// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinStore

/// A route of an engine, and what the engine knows about it.
struct RouteRun {
  let route: SyncRoute
  var schedule = RouteSchedule()
  /// The time of the next pass after a save, or of one that the last pass planned, or
  /// `nil`.
  var due: Int64?
  /// The version that the route showed last, or `nil`.
  fileprivate(set) var shown: ReplicaVersion?
  /// The time of the last pass without an error, or `nil`.
  fileprivate(set) var lastSynced: Int64?
  fileprivate(set) var error: (any Error)?
  fileprivate(set) var isSyncing = false
  /// Whether the route answered since the launch.
  fileprivate var hasAnswered = false
  /// The note that is on disk, or `nil`.
  fileprivate var written: RouteNote?
  /// What the device remembers of a storage of objects.
  fileprivate var memory = ObjectMemory()
  /// The part of the memory that is on disk.
  fileprivate var writtenMemory: [UInt8] = []

  init(route: SyncRoute) { self.route = route }

  /// The name of the note about the route.
  var noteName: String { RouteNote.name(ofRoute: route.name) }
  /// The name of the note about the objects of the route.
  var memoryName: String { "objects " + route.name }

  /// Takes what an earlier launch noted.
  mutating func take(_ bytes: [UInt8]?, remembering objects: [UInt8]?) {
    writtenMemory = objects ?? []
    memory = ObjectMemory(note: writtenMemory)
    let note = bytes.flatMap { RouteNote(decoding: $0) }
    // Another scope has other saves.
    guard let note, note.scope == route.scope else { return }
    written = note
    (shown, lastSynced) = (note.shown, note.lastSynced)
    memory.wasReached = true
  }

  /// Records that the app lets the route continue.
  mutating func resume(at now: Int64) {
    schedule.resume()
    // Only an answer to `gone` lets the route create the place again.
    memory.isResumed = error as? SyncRefusal == .gone
    due = now
  }

  /// Plans a pass for a time, unless an earlier one is planned.
  mutating func plan(at time: Int64) { due = min(due ?? time, time) }

  /// Plans the pass that stores saves of other devices.
  ///
  /// A route that waits plans it after its next pass, and one that refused saves after
  /// the next save. Otherwise, passes would follow each other without a pause.
  mutating func planRelay(_ time: SyncTime) {
    guard schedule.uploads, schedule.state == .ready,
      let relay = memory.relays.values.min()
    else { return }
    // The note of an earlier launch may have any time.
    let wait = max(relay, time.now()) - time.now()
    plan(at: time.uptime() + min(wait, 2 * ObjectPass.relayDelay))
  }

  /// Returns whether the route lacks saves of a version, did not refuse any, and does
  /// not wait.
  func canSend(_ version: ReplicaVersion) -> Bool {
    let shown = shown ?? ReplicaVersion()
    return schedule.uploads && schedule.state == .ready
      && !shown.covers(version, except: { memory.relays[$0] != nil })
  }

  fileprivate var isOfObjects: Bool {
    if case .objects = route.means { true } else { false }
  }

  /// The note to write, or `nil` if it is on disk.
  ///
  /// The time alone is not worth a write after each pass.
  fileprivate var unwritten: RouteNote? {
    guard let shown else { return nil }
    let hasTime = written?.lastSynced != nil || lastSynced == nil
    if written?.shown == shown, hasTime { return nil }
    return RouteNote(
      scope: route.scope, shown: shown, lastSynced: lastSynced)
  }

  /// Returns the status.
  ///
  /// - Parameters:
  ///   - version: The version of the store.
  ///   - isStopped: Whether the app stopped the engine.
  func status(
    at version: ReplicaVersion, _ time: SyncTime, isStopped: Bool
  ) -> SyncStatus {
    let unsent = version.saveCount(beyond: shown)
    return SyncStatus(
      route: route.name, state: state(time, isStopped: isStopped),
      error: error, uploadRefusal: schedule.uploadRefusal, unsentSaves: unsent,
      isSynced: unsent == 0 && shown.map(version.covers) ?? false,
      lastSynced: lastSynced)
  }

  private func state(_ time: SyncTime, isStopped: Bool) -> SyncStatus.State {
    if isSyncing { return .syncing }
    if isStopped { return .stopped }
    switch schedule.state {
    case .ready: return .idle
    case .waiting(let end, _):
      return .waiting(until: time.now() &+ max(end - time.uptime(), 0))
    case .needsDecision: return .needsDecision
    case .stopped: return .stopped
    }
  }
}

extension EngineCore {
  /// Performs the call of a pass over a route.
  func ask(_ i: Int) async {
    let run = runs[i]
    let recorder = PassRecorder(
      of: run.route.name, isFirst: !run.hasAnswered, events: events,
      now: time.now)
    runs[i].isSyncing = true
    await publish()
    let before = await store.version
    let uploads = runs[i].schedule.begin()
    let outcome: RouteSchedule.Outcome
    var failure: (any Error)?
    var refusal: SyncRefusal?
    do {
      let result = try await EngineCore.$asking.withValue(
        ObjectIdentifier(self)
      ) {
        try await call(i, uploads: uploads) { recorder.record($0) }
      }
      outcome = .succeeded(isUploaded: result.isUploaded || run.isOfObjects)
      refusal = result.uploadRefusal
      (runs[i].lastSynced, runs[i].error) = (time.now(), nil)
    } catch {
      // A route can fail because its pass is canceled. A refusal counts anyway.
      if Task.isCancelled, !RouteSchedule.isOfLibrary(error) {
        outcome = .canceled
      } else {
        outcome = .failed(error)
        runs[i].error = error
      }
      (failure, refusal) = (error, recorder.refusal)
    }
    let hasReceived = await store.read {
      $0.version.hasReceived(since: before, besides: $0.device)
    }
    let hasSent = recorder.shown.map { run.shown?.continues($0) != true }
    runs[i].schedule.end(
      outcome, uploading: uploads, refusing: refusal,
      hasProgressed: hasReceived || hasSent == true, at: time.uptime(),
      random: time.random)
    recorder.finish(failure)
    runs[i].isSyncing = false
    if let shown = recorder.shown {
      (runs[i].shown, runs[i].hasAnswered) = (shown, true)
    }
    // The peer lost the saves.
    if failure as? SyncRefusal == .gone { runs[i].shown = ReplicaVersion() }
    runs[i].planRelay(time)
    await writeNotes(i)
    await publish()
  }

  /// Performs the call of a route.
  private func call(
    _ i: Int, uploads: Bool, reporting report: @Sendable (SyncStep) -> Void
  ) async throws -> SyncResult {
    let run = runs[i]
    switch run.route.means {
    case .asking(let ask):
      let call = SyncCall(
        scope: run.route.scope, bytesPerPart: run.schedule.bytesPerPart,
        assuming: run.shown, uploads: uploads)
      return try await store.sync(call, asking: ask, reporting: report)
    case .objects(let storage):
      var memory = run.memory
      defer { runs[i].memory = memory }
      return try await store.sync(
        scope: run.route.scope, objects: storage, remembering: &memory,
        as: run.memoryName, uploads: uploads, time, reporting: report)
    }
  }

  /// Writes what changed.
  ///
  /// A note may be lost, and then the next pass writes it.
  private func writeNotes(_ i: Int) async {
    let memory = runs[i].memory.note
    if memory != runs[i].writtenMemory,
      await setNote(runs[i].memoryName, to: memory)
    {
      runs[i].writtenMemory = memory
    }
    if let note = runs[i].unwritten,
      await setNote(runs[i].noteName, to: note.encoded())
    {
      runs[i].written = note
    }
  }

  private func setNote(_ name: String, to value: [UInt8]) async -> Bool {
    let isWritten: ()? = try? await store.setNote(name, to: value)
    return isWritten != nil
  }
}
