// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// The oracle's model of a device: the received saves of each field.
struct OracleReplica {
  /// A save that undid or redid another.
  struct Undo: Hashable {
    let index: Int
    let undone: Int
  }

  /// Everything that distinguishes one replica from another.
  struct Knowledge: Hashable {
    var device: DeviceID
    /// The hybrid clock.
    var latest: UInt64 = 0
    /// The saves whose effects are fully applied.
    var clock = VectorClock() {
      didSet { prefixes = prefixes.filter { $1.save.to > clock[$0] } }
    }
    /// The saves of some devices that only the first records contain.
    var prefixes: [DeviceID: OraclePrefix] = [:]
    /// The time of each device's last save in the clock.
    var times: [DeviceID: Timestamp] = [:]
    var held: [FieldLocation: SaveSet] = [:]
    /// The device ID that this one replaced, until its first save.
    var predecessor: DeviceID?
    /// The pull devices of this replica, by server.
    var pullDevices: [String: DeviceID] = [:]
    /// The saves that undid or redid others, in order.
    var undos: [Undo] = []
  }

  let history: OracleHistory
  var knowledge: Knowledge

  init(_ device: DeviceID, history: OracleHistory) {
    self.history = history
    knowledge = Knowledge(device: device)
  }

  var device: DeviceID { knowledge.device }
  /// The device IDs that only this replica uses for saves.
  var ours: [DeviceID] { [device] + knowledge.pullDevices.values }
  var clock: VectorClock { knowledge.clock }
  var held: [FieldLocation: SaveSet] { knowledge.held }

  func field(_ location: FieldLocation) -> OracleField {
    OracleField(location, held: held[location] ?? SaveSet(), in: history)
  }

  /// Returns the last received save of each device that changed a field.
  ///
  /// Every save that is held for a field changed it.
  func clock(of location: FieldLocation) -> VectorClock {
    var clock = VectorClock()
    for index in held[location]?.members ?? [] {
      clock.advance(to: history.saves[Int(index)].dot)
    }
    return clock
  }

  func rule(_ id: RecordID) -> DeletionRule {
    history.schema[id.entity].deletion
  }

  /// Returns the fields of a record that have content to drop.
  func contents(of id: RecordID) -> [FieldLocation] {
    held.keys.filter {
      $0.record == id && $0.field != .existence && field($0).hasContent
    }
  }

  /// The saves that the replica's version shows, including those in prefixes
  /// and in fields ahead.
  var shownSaves: VectorClock {
    var saves = held.keys.reduce(into: clock) { $0.merge(clock(of: $1)) }
    for (device, prefix) in knowledge.prefixes {
      saves.advance(to: Dot(device, prefix.save.to))
    }
    return saves
  }

  /// Whether some field contains saves that the clock doesn't.
  var isAhead: Bool {
    held.keys.contains { !clock(of: $0).isContained(in: clock) }
  }
}

// The hybrid clock.
extension OracleReplica {
  static let maximumClockSkew: Int64 = 5 * 60 * 1000

  static func stamp(_ milliseconds: Int64) -> UInt64 {
    UInt64(min(max(milliseconds, 0), 1 << 48 - 1)) << 16
  }

  /// Continues as a new device, while the original device remains.
  mutating func fork(as device: DeviceID) {
    (knowledge.device, knowledge.predecessor) = (device, nil)
    knowledge.pullDevices = [:]
  }

  /// Continues under a new device ID.
  mutating func become(_ device: DeviceID) {
    let old = knowledge.device
    if old == device { return }
    if clock[old] > 0, knowledge.predecessor == nil {
      knowledge.predecessor = old
    }
    (knowledge.device, knowledge.pullDevices) = (device, [:])
  }

  /// Reopens the replica, under a new device ID if the token is missing.
  mutating func reopen(as device: DeviceID, now: Int64) {
    become(device)
    if knowledge.latest > Self.stamp(now + Self.maximumClockSkew) {
      knowledge.latest = Self.stamp(now)
    }
  }
}
