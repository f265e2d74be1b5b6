// SPDX-License-Identifier: Apache-2.0

/// The numbers of events in searches of objects.
package struct ObjectExplorerCounts: Sendable {
  package var configurations = 0
  package var transitions = 0
  package var ends = 0
  package var stored = 0
  package var absorbing = 0
  package var read = 0
  package var deleted = 0
  package var damaged = 0
  package var lost = 0
  package var relayed = 0
  package var met = 0
  package var overFork = 0
  package var newForks = 0
  package var newDevices = 0
  package var mostRounds = 0

  package init() {}

  private static var paths: [WritableKeyPath<ObjectExplorerCounts, Int>] {
    [
      \.configurations, \.transitions, \.ends, \.stored, \.absorbing, \.read,
      \.deleted, \.damaged, \.lost, \.relayed, \.met, \.overFork, \.newForks,
      \.newDevices,
    ]
  }

  /// All counts of events.
  package var all: [Int] { Self.paths.map { self[keyPath: $0] } }

  package mutating func add(_ other: ObjectExplorerCounts) {
    for path in Self.paths { self[keyPath: path] += other[keyPath: path] }
    mostRounds = max(mostRounds, other.mostRounds)
  }
}

extension ObjectExplorerCounts: CustomStringConvertible {
  package var description: String {
    "\(configurations) configurations, \(transitions) transitions, \(ends) ends "
      + "in at most \(mostRounds) rounds; objects: \(stored) stored, \(absorbing) "
      + "of several saves, \(read) read, \(deleted) deleted, \(damaged) damaged, "
      + "\(lost) lost, \(relayed) relayed, \(overFork) read over a fork; \(met) "
      + "meetings, \(newForks) forks found, \(newDevices) new devices"
  }
}
