// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The statuses that an engine published last.
struct Publication {
  /// The time between two publications, in milliseconds.
  static let interval: Int64 = 100

  var statuses: [SyncStatus] = []
  var time: Int64?
  /// The task that publishes at the end of the interval, or `nil`.
  var task: Task<Void, Never>?
}

extension EngineCore {
  /// Publishes the statuses if one changed, now or at the end of the interval.
  ///
  /// - Returns: The present statuses.
  @discardableResult
  func publish() async -> [SyncStatus] {
    let version = await store.version
    let statuses = runs.map {
      $0.status(at: version, time, isStopped: isStopped)
    }
    let isSame =
      publication.time != nil
      && publication.statuses.elementsEqual(statuses) { $0.equals($1) }
    if isSame || publication.task != nil { return statuses }
    let due = publication.time.map { $0 + Publication.interval } ?? .min
    if due <= time.uptime() {
      (publication.statuses, publication.time) = (statuses, time.uptime())
      self.statuses.send(statuses)
    } else {
      publication.task = Task { [weak self, time] in
        try? await time.wait(due)
        await self?.publishLater()
      }
    }
    return statuses
  }

  private func publishLater() async {
    publication.task = nil
    await publish()
  }
}
