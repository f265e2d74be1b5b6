// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import Rejoin

/// An entity with a field of every kind.
struct Sailor: Entity {
  let name = register("name", of: String.self)
  let rank = lww("rank", of: String.self)
  let miles = counter("miles")
  let tags = set("tags", of: String.self)
  let roles = set("roles", of: String.self)
  let pay = ledger("pay")
  let mentor = toOne("mentor", Sailor.self)
  let crew = toMany("crew", Sailor.self)

  static let ada = RecordID("Sailor", "ada")
}

/// An entity under delete-wins.
struct Berth: Entity {
  let deletions = DeletionRule.deleteWins
  let name = register("name", of: String.self)
}

/// An entity without declared fields.
struct Anything: Entity {
  static let entityName = "Value"
}

extension Replica {
  /// Creates an empty replica with the entities above.
  static func empty(
    _ device: UInt64, wallClock: ManualClock = ManualClock(),
    makeDeviceID: @escaping () -> DeviceID = { DeviceID(0) }
  ) -> Replica {
    Replica(
      device: DeviceID(device),
      schema: [Sailor.self, Berth.self, Anything.self],
      wallClock: wallClock.wallClock, makeDeviceID: makeDeviceID)
  }

  /// Opens a stored replica with the token of its last use.
  static func opening(
    _ stored: ReplicaState, token: RestoreToken?, as device: UInt64
  ) -> Replica {
    Replica(
      opening: stored, token: token,
      schema: [Sailor.self, Berth.self, Anything.self],
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(device) })
  }

  /// Sends another replica the saves that it lacks.
  @discardableResult
  func tell(_ other: Replica) -> MergeReport {
    delta(since: other.version).map { other.apply($0) } ?? MergeReport()
  }

  var ada: TypedRecord<Sailor>? { self[Sailor.self, "ada"] }

  /// Writes the names of records in one save.
  func write(_ keys: String..., value: String) throws {
    try save { transaction in
      for key in keys { transaction[Sailor.self, key].name = value }
    }
  }

  /// Saves an edit of one record.
  @discardableResult
  func edit(_ body: (RecordEditor<Sailor>) -> Void) throws -> SaveReport {
    try save { body($0[Sailor.self, "ada"]) }
  }

  /// Writes a field of every kind.
  func fill(
    name: String = "ada", rank: String = "mate", tag: String = "x",
    role: String = "y"
  ) throws {
    try edit {
      ($0.name, $0.rank) = (name, rank)
      $0.miles.increment(by: 3)
      $0.tags.insert(tag)
      $0.roles.insert(role)
      $0.pay.append(4)
    }
  }
}

/// Merges the replicas with each other until all have the same saves.
func settle(_ replicas: Replica...) {
  for _ in replicas {
    for one in replicas {
      for other in replicas where one !== other { one.merge(other) }
    }
  }
}

/// Returns whether replicas have the same saves and state.
func areEqual(_ replicas: Replica...) -> Bool {
  replicas.allSatisfy {
    $0.version.vectorClock == replicas[0].version.vectorClock
      && $0.delta() == replicas[0].delta()
  }
}

extension Delta {
  /// Creates a delta of one field, as another implementation could.
  init(
    _ state: FieldState, of key: FieldKey, in id: RecordID,
    intervals: [DeviceID: Interval] = [:]
  ) {
    self.init(
      changes: [Change(id: id, fields: [key: state])], intervals: intervals)
  }
}

// Transfers in parts.
extension Replica {
  func nextPart(to other: Replica, bytes: Int = 1) throws -> Delta {
    try #require(delta(since: other.version, byteLimit: bytes))
  }

  /// Sends at most `count` parts.
  ///
  /// - Returns: The parts.
  @discardableResult
  func sendParts(
    to other: Replica, bytes: Int = 1, count: Int = 100
  ) -> [Delta] {
    var parts: [Delta] = []
    while parts.count < count,
      let part = delta(since: other.version, byteLimit: bytes)
    {
      parts.append(part)
      guard other.apply(part).hasAdvanced else { break }
    }
    #expect(parts.count < 100, "the transfer does not end")
    return parts
  }
}
