//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

@testable import Rejoin

/// A delta, as sets of saves.
struct OracleDelta {
  var fields: [FieldPath: SaveSet]
  var intervals: [DeviceID: (from: UInt64, to: UInt64)]

  /// The part with some of the fields, which carries no interval.
  func part(_ paths: some Sequence<FieldPath>) -> OracleDelta {
    var part = OracleDelta(fields: [:], intervals: [:])
    for path in paths { part.fields[path] = fields[path] }
    return part
  }
}

/// What a device has heard of: of each field a set of saves.
struct OracleReplica {
  let history: OracleHistory
  var device: DeviceID
  /// The hybrid clock.
  var latest: UInt64 = 0
  /// The saves whose every effect is here.
  var clock = VectorClock()
  var held: [FieldPath: SaveSet] = [:]

  init(_ device: DeviceID, history: OracleHistory) {
    (self.device, self.history) = (device, history)
  }

  static let drag: Int64 = 5 * 60 * 1000

  func field(_ path: FieldPath) -> OracleField {
    OracleField(path, held: held[path] ?? SaveSet(), in: history)
  }

  func rule(_ id: RecordID) -> DeletionRule {
    history.schema[id.entity].deletion
  }

  private func marks(_ id: RecordID) -> [(
    dot: Dot, time: Timestamp, value: Value?
  )] {
    field(FieldPath(id: id, key: .existence)).siblings
  }

  func exists(_ id: RecordID) -> Bool {
    let marks = marks(id).map { $0.value == .bool(true) }
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
    held.contains { path, _ in
      !history.schema[path.id.entity].isLocalOnly
        && !field(path).clock.isContained(in: clock)
    }
  }
}

// Messages.
extension OracleReplica {
  func delta(since basis: VectorClock) -> OracleDelta? {
    var delta = OracleDelta(fields: [:], intervals: [:])
    for (path, saves) in held
    where !history.schema[path.id.entity].isLocalOnly
      && !field(path).clock.isContained(in: basis)
    {
      delta.fields[path] = saves
    }
    for entry in clock.entries where entry.count > basis[entry.device] {
      delta.intervals[entry.device] = (basis[entry.device], entry.count)
    }
    return delta.fields.isEmpty && delta.intervals.isEmpty ? nil : delta
  }

  /// Hears of the saves in a delta.
  ///
  /// - Returns: The devices of which saves are missing.
  mutating func apply(_ delta: OracleDelta, now: Int64) -> Set<DeviceID> {
    for (device, interval) in delta.intervals
    where interval.to > clock[device] {
      let time = history.time(of: Dot(device, interval.to)).rawValue
      latest = max(latest, min(time, OracleReplica.stamp(now + Self.drag)))
    }
    for (path, saves) in delta.fields {
      held[path, default: SaveSet()].formUnion(saves)
    }
    var gaps: Set<DeviceID> = []
    for (device, interval) in delta.intervals {
      if interval.from > clock[device] {
        gaps.insert(device)
      } else {
        clock.insert(Dot(device, interval.to))
      }
    }
    return gaps
  }

  /// Opens again, as another device where the token is not there.
  mutating func reopen(as device: DeviceID, now: Int64) {
    self.device = device
    if latest > OracleReplica.stamp(now + Self.drag) {
      latest = OracleReplica.stamp(now)
    }
  }

  static func stamp(_ milliseconds: Int64) -> UInt64 {
    UInt64(min(max(milliseconds, 0), 1 << 48 - 1)) << 16
  }
}
