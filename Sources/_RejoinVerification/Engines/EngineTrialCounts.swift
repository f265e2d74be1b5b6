// SPDX-License-Identifier: Apache-2.0

/// The numbers of events in trials of engines.
package struct EngineTrialCounts: Sendable {
  package var saves = 0
  package var requests = 0
  package var parts = 0
  package var faults = 0
  /// Passes that the app asked for, and those whose caller was canceled.
  package var passes = 0
  package var canceled = 0
  package var launches = 0
  package var stops = 0
  package var resumes = 0
  /// Statuses that showed all saves as uploaded, after which the peer was searched
  /// for them.
  package var uploaded = 0
  package var events = 0
  package var lostHubs = 0
  /// Objects that were stored in a bucket.
  package var objects = 0

  package init() {}

  /// All counts.
  package var all: [Int] { EngineTrialCounts.paths.map { self[keyPath: $0] } }

  package mutating func add(_ other: EngineTrialCounts) {
    for path in EngineTrialCounts.paths {
      self[keyPath: path] += other[keyPath: path]
    }
  }

  private static var paths: [WritableKeyPath<EngineTrialCounts, Int>] {
    [
      \.saves, \.requests, \.parts, \.faults, \.passes, \.canceled, \.launches,
      \.stops, \.resumes, \.uploaded, \.events, \.lostHubs,
      \.objects,
    ]
  }
}

extension EngineTrialCounts: CustomStringConvertible {
  package var description: String {
    """
    \(saves) saves, \(requests) requests with \(parts) parts and \(faults) \
    faults, \(passes) calls of the app, \(canceled) canceled, \(launches) \
    launches, \(stops) stops, \(resumes) resumed routes, \(lostHubs) hubs lost, \
    \(events) events, \(objects) objects, \(uploaded) times uploaded
    """
  }
}
