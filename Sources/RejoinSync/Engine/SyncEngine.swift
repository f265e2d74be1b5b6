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
/// After ``start()``, the engine syncs two seconds after a save, fifteen over objects,
/// and tries again after an error. Call ``sync()`` when the app starts, when a push
/// message arrives, when the network returns, and before the app goes to the
/// background.
///
/// A *pass* asks each route once, one after another. The engine runs one pass at a
/// time. After an error, a route waits for a random time up to 2, 4, 8 and at most 300
/// seconds, or as long as the peer asks for, at most a day. A save ends the first kind
/// of wait, not the second one. A refusal that only the app can resolve stops the
/// route until ``resume(_:)`` or the next launch, see
/// ``SyncStatus/State/needsDecision``.
///
/// A pass waits for the answer of each route. Give routes a time limit, because one
/// that never answers holds up the others.
///
/// A store has one engine. To replace it, stop or release it first. A released engine
/// ends its pass early.
public final class SyncEngine: Sendable {
  private let core: EngineCore

  /// Creates an engine that asks no route before ``start()`` or ``sync()``.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - routes: The routes, in the order in which a pass asks them.
  /// - Precondition: The names of the routes differ, and the store has no other
  ///   engine that was not stopped or released.
  public convenience init(_ store: ReplicaStore, routes: [SyncRoute]) {
    self.init(store, routes: routes, time: .system)
  }

  package init(_ store: ReplicaStore, routes: [SyncRoute], time: SyncTime) {
    demand(
      Set(routes.map(\.name)).count == routes.count,
      "The names of the routes of a `SyncEngine` must differ.")
    core = EngineCore(store, routes: routes, time: time)
    takeStore()
  }

  deinit { Task { [core] in await core.stop() } }

  private func takeStore() {
    demand(
      core.store.engine.take(for: self),
      "A store must have one `SyncEngine`. Stop the other one first.")
  }

  /// The events of the passes from now on.
  ///
  /// The sequence keeps the newest 256 events, and ends with the engine.
  public var events: AsyncStream<SyncEvent> { core.events.stream() }

  /// The statuses of all routes, starting with the present ones.
  ///
  /// The sequence has an element if a status changed, at most ten times a second, and
  /// keeps the newest one. It does not keep the engine, and ends with it.
  public var statuses: AsyncStream<[SyncStatus]> {
    Task { [core] in await core.watchStore() }
    return core.statuses.stream()
  }

  /// Syncs from now on after saves and waits.
  ///
  /// Saves that another device sends through `answer` also start a pass, because that
  /// device may never reach the routes itself. To receive at launch, also call ``sync()``.
  ///
  /// - Precondition: The store has no other engine that was not stopped or released.
  public func start() async {
    takeStore()
    await core.start()
  }

  /// Ends the current pass, and starts none until ``start()``.
  ///
  /// When the method returns, no closure of a route runs. In the closure of a route,
  /// the method does not wait for it.
  public func stop() async {
    await core.stop()
    if await core.isStopped { core.store.engine.release(from: self) }
  }

  /// Performs a pass over all routes.
  ///
  /// Calls during a pass share the next one. If the task of each caller is canceled,
  /// and the engine itself does not need the pass, it ends early. In the closure of a
  /// route, the method asks for another pass, and does not wait for it.
  ///
  /// - Returns: The statuses after the pass. After ``stop()``, no pass runs.
  @discardableResult
  public func sync() async -> [SyncStatus] { await core.sync() }

  /// Continues a route after ``SyncStatus/State/needsDecision`` or refused saves.
  ///
  /// - Precondition: A route has the name.
  public func resume(_ route: String) async { await core.resume(route) }
}

// For tests.
extension SyncEngine {
  /// Whether a pass runs.
  package var isPassing: Bool { get async { await core.isPassing } }

  /// The time of the next pass that the engine planned, or `nil`.
  package var plannedTime: Int64? { get async { await core.plannedTime } }

  /// Returns the present statuses, and publishes them if one changed.
  @discardableResult
  package func publish() async -> [SyncStatus] {
    // It reads the notes of an earlier launch.
    await core.watchStore()
    return await core.publish()
  }
}
