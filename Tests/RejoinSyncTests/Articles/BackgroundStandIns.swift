// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin

// The parts of UIKit, BackgroundTasks and Network that the article *Syncing in
// the background* uses.
#if !canImport(Darwin)
  final class NWPathMonitor {
    enum Status { case satisfied, unsatisfied }
    struct Path { let status: Status }
    var pathUpdateHandler: (@Sendable (Path) -> Void)?
    func start(queue: DispatchQueue) {}
  }
#endif

#if !os(iOS)
  enum UIBackgroundFetchResult { case newData, noData, failed }

  struct UIBackgroundTaskIdentifier: Equatable {
    static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
    let rawValue: Int
  }

  @MainActor final class UIApplication {
    typealias Handler = @MainActor @Sendable () -> Void
    /// The tasks that did not end.
    private(set) var tasks: [Int: Handler] = [:]
    private var count = 0

    func beginBackgroundTask(
      expirationHandler handler: @escaping Handler
    ) -> UIBackgroundTaskIdentifier {
      count += 1
      tasks[count] = handler
      return UIBackgroundTaskIdentifier(rawValue: count)
    }

    func endBackgroundTask(_ id: UIBackgroundTaskIdentifier) {
      tasks[id.rawValue] = nil
    }
  }

  @MainActor protocol UIApplicationDelegate: AnyObject {
    func application(
      _ application: UIApplication,
      didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult
  }

  /// `@preconcurrency` lets it pass as sendable.
  final class BGTask: @unchecked Sendable {
    private let results = Locked<[Bool]>([])
    var expirationHandler: (() -> Void)?
    var completions: [Bool] { results.withLock { $0 } }
    func setTaskCompleted(success: Bool) {
      results.withLock { $0.append(success) }
    }
  }

  final class BGAppRefreshTaskRequest {
    let identifier: String
    var earliestBeginDate: Date?
    init(identifier: String) { self.identifier = identifier }
  }

  final class BGTaskScheduler: Sendable {
    typealias Handler = @MainActor (BGTask) -> Void
    static let shared = BGTaskScheduler()
    private let handlers = Locked<[String: Handler]>([:])
    private let requests = Locked<[String]>([])
    var submitted: [String] { requests.withLock { $0 } }

    @discardableResult func register(
      forTaskWithIdentifier id: String, using queue: DispatchQueue,
      launchHandler handler: @escaping Handler
    ) -> Bool {
      handlers.withLock { $0[id] = handler }
      return true
    }

    func submit(_ request: BGAppRefreshTaskRequest) throws {
      requests.withLock { $0.append(request.identifier) }
    }

    /// Starts a task as the system does.
    @MainActor func launch(_ id: String) -> BGTask {
      let task = BGTask()
      handlers.withLock { $0[id] }?(task)
      return task
    }
  }
#endif
