//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//
import Rejoin

/// What a device has heard of: of each field a set of saves.
struct OracleReplica {
  /// All that tells one replica from another.
  struct Knowledge: Hashable {
    var device: DeviceID
    /// The hybrid clock.
    var latest: UInt64 = 0
    /// The saves whose every effect is here.
    var clock = VectorClock()
    /// The time of the last save in the clock, of each device.
    var times: [DeviceID: Timestamp] = [:]
    var held: [FieldPath: SaveSet] = [:]
  }

  let history: OracleHistory
  var knowledge: Knowledge

  init(_ device: DeviceID, history: OracleHistory) {
    self.history = history
    knowledge = Knowledge(device: device)
  }

  var device: DeviceID { knowledge.device }
  var clock: VectorClock { knowledge.clock }
  var held: [FieldPath: SaveSet] { knowledge.held }

  func field(_ path: FieldPath) -> OracleField {
    OracleField(path, held: held[path] ?? SaveSet(), in: history)
  }

  func rule(_ id: RecordID) -> DeletionRule {
    history.schema[id.entity].deletion
  }

  /// Of each mark whether it says that the record is alive.
  private func marks(_ id: RecordID) -> [(dot: Dot, isAlive: Bool)] {
    field(FieldPath(id, .existence)).siblings.map {
      ($0.dot, $0.value == .bool(true))
    }
  }

  func exists(_ id: RecordID) -> Bool {
    let marks = marks(id).map(\.isAlive)
    return rule(id) == .updateWins
      ? marks.contains(true) : marks.contains(true) && !marks.contains(false)
  }

  func isDead(_ id: RecordID) -> Bool { !marks(id).isEmpty && !exists(id) }

  func isPurgeable(_ id: RecordID, below cut: VectorClock) -> Bool {
    isDead(id) && marks(id).allSatisfy { cut.contains($0.dot) }
      && !contents(of: id).isEmpty
  }

  /// The fields of a record in which there is something to drop.
  func contents(of id: RecordID) -> [FieldPath] {
    held.keys.filter {
      $0.id == id && $0.key != .existence && field($0).hasContent
    }
  }

  /// Whether some field holds saves that the clock does not vouch for.
  var isAhead: Bool {
    held.keys.contains { !field($0).clock.isContained(in: clock) }
  }
}

// The hybrid clock.
extension OracleReplica {
  static let drag: Int64 = 5 * 60 * 1000

  static func stamp(_ milliseconds: Int64) -> UInt64 {
    UInt64(min(max(milliseconds, 0), 1 << 48 - 1)) << 16
  }

  /// Opens again, as another device where the token is not there.
  mutating func reopen(as device: DeviceID, now: Int64) {
    knowledge.device = device
    if knowledge.latest > Self.stamp(now + Self.drag) {
      knowledge.latest = Self.stamp(now)
    }
  }
}
