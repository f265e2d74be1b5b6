// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// A delta, as sets of saves.
struct OracleDelta: Hashable {
  /// The saves of a device after `from` and up to `to`.
  struct Interval: Hashable {
    let from: UInt64
    let to: UInt64
    let time: Timestamp
  }

  var fields: [FieldPath: SaveSet] = [:]
  var intervals: [DeviceID: Interval] = [:]

  /// The part with some of the fields, which carries no interval.
  func part(_ paths: some Sequence<FieldPath>) -> OracleDelta {
    var part = OracleDelta()
    for path in paths { part.fields[path] = fields[path] }
    return part
  }
}

extension OracleReplica {
  /// The changes that a replica with the saves in `basis` has not seen.
  ///
  /// - Parameter receiver: That replica, if its version tells which fields are
  ///   ahead.
  func delta(
    since basis: VectorClock, at receiver: OracleReplica? = nil
  ) -> OracleDelta? {
    var delta = OracleDelta()
    for (path, saves) in held {
      // What the receiver has ahead of its version is left out, unless an interval
      // claims, to every reader, that it is included.
      var known = basis
      for entry in receiver?.field(path).clock.entries ?? []
      where clock[entry.device] <= basis[entry.device] {
        known.insert(Dot(entry.device, entry.count))
      }
      if !field(path).clock.isContained(in: known) {
        delta.fields[path] = saves
      }
    }
    for entry in clock.entries where entry.count > basis[entry.device] {
      delta.intervals[entry.device] = .init(
        from: basis[entry.device], to: entry.count,
        time: knowledge.times[entry.device] ?? .zero)
    }
    return delta.fields.isEmpty && delta.intervals.isEmpty ? nil : delta
  }

  /// Applies a delta.
  ///
  /// - Returns: The devices with missing saves.
  mutating func apply(_ delta: OracleDelta, now: Int64) -> Set<DeviceID> {
    for (device, interval) in delta.intervals
    where interval.to > clock[device] {
      knowledge.latest = max(
        knowledge.latest,
        min(interval.time.rawValue, Self.stamp(now + Self.maximumClockSkew)))
    }
    for (path, saves) in delta.fields {
      knowledge.held[path, default: SaveSet()].formUnion(saves)
    }
    var gaps: Set<DeviceID> = []
    for (device, interval) in delta.intervals {
      if interval.from > clock[device] {
        gaps.insert(device)
      } else if interval.to > clock[device] {
        knowledge.clock.insert(Dot(device, interval.to))
        knowledge.times[device] = interval.time
      }
    }
    return gaps
  }
}
