// SPDX-License-Identifier: Apache-2.0

/// The numbers of events in trials of objects.
package struct ObjectTrialCounts: Sendable {
  package var stored = 0
  package var read = 0
  package var deleted = 0
  package var damaged = 0
  package var lost = 0
  package var relayed = 0
  package var restored = 0
  package var copied = 0
  package var died = 0
  package var forks = 0
  package var lostDevices = 0
  package var withFieldsAhead = 0
  /// The greatest number of objects of one device at the end, and of rounds until
  /// nothing moves.
  package var mostObjects = 0
  package var mostRounds = 0

  package init() {}

  private static var sums: [WritableKeyPath<ObjectTrialCounts, Int>] {
    [
      \.stored, \.read, \.deleted, \.damaged, \.lost, \.relayed, \.restored,
      \.copied, \.died, \.forks, \.lostDevices,
    ]
  }

  package var all: [Int] { Self.sums.map { self[keyPath: $0] } }

  package mutating func add(_ other: ObjectTrialCounts) {
    for path in Self.sums { self[keyPath: path] += other[keyPath: path] }
    withFieldsAhead += other.withFieldsAhead
    mostObjects = max(mostObjects, other.mostObjects)
    mostRounds = max(mostRounds, other.mostRounds)
  }
}

extension ObjectTrialCounts: CustomStringConvertible {
  package var description: String {
    "\(stored) objects stored, \(read) read, \(deleted) deleted, \(damaged) damaged, "
      + "\(lost) lost, \(relayed) of other devices, \(restored) backups restored, "
      + "\(copied) devices copied, \(forks) forked, \(died) processes killed, "
      + "\(lostDevices) devices lost, \(withFieldsAhead) ends with fields ahead; "
      + "at most \(mostObjects) objects of a device, \(mostRounds) rounds"
  }
}
