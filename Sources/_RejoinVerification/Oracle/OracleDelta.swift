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

  /// The saves that the author has heard of, of each field.
  var fields: [FieldPath: SaveSet] = [:]
  /// Of some fields, which of these are in the message, and what must be known.
  var fragments: [FieldPath: MessageOutline.Fragment] = [:]
  var intervals: [DeviceID: Interval] = [:]
  /// The records that the intervals are about, if not all.
  var range: OracleRange?

  /// The part with some of the fields, which carries no interval.
  func part(_ paths: some Sequence<FieldPath>) -> OracleDelta {
    var part = OracleDelta()
    for path in paths {
      part.fields[path] = fields[path]
      part.fragments[path] = fragments[path]
    }
    return part
  }
}

/// What a delta did.
struct OracleReceipt {
  /// The devices with missing saves.
  var gaps: Set<DeviceID> = []
  /// The fragments that were taken as they are.
  var fragments = 0
  /// The fragments that were refused, at least in part.
  var refused = 0
  /// The intervals that wait for something that was refused.
  var waiting = 0
  /// The counts of a part.
  var parts = PartCounts()
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
    for entry in clock.entries where entry.count > basis[entry.device] {
      delta.intervals[entry.device] = .init(
        from: basis[entry.device], to: entry.count,
        time: knowledge.times[entry.device] ?? .zero)
    }
    delta.fields = missing(
      since: basis, at: receiver, beside: delta.intervals.keys)
    return delta.fields.isEmpty && delta.intervals.isEmpty ? nil : delta
  }

  /// The fields that have saves which a receiver lacks.
  ///
  /// What it has ahead of its version is left out, unless an interval of that device
  /// claims, to every reader, that it is included.
  func missing(
    since basis: VectorClock, at receiver: OracleReplica?,
    beside devices: some Collection<DeviceID>
  ) -> [FieldPath: SaveSet] {
    held.filter { path, _ in
      var known = basis
      for entry in receiver?.field(path).clock.entries ?? []
      where !devices.contains(entry.device) {
        known.advance(to: Dot(entry.device, entry.count))
      }
      return !field(path).clock.isContained(in: known)
    }
  }

  /// Applies a delta.
  ///
  /// - Parameters:
  ///   - suspects: The devices that may have several histories. Which of them a
  ///     replica has detected, the oracle does not know.
  ///   - refusals: Of the parts of fields, for which devices the replica lacks
  ///     earlier entries, as it says. Only what it says of suspects counts.
  @discardableResult
  mutating func apply(
    _ delta: OracleDelta, now: Int64, suspects: Set<DeviceID> = [],
    refusals: [FieldPath: Set<DeviceID>] = [:]
  ) -> OracleReceipt {
    for (device, interval) in delta.intervals
    where interval.to > lastKnown(of: device) {
      knowledge.latest = max(
        knowledge.latest,
        min(interval.time.rawValue, Self.stamp(now + Self.maximumClockSkew)))
    }
    var receipt = OracleReceipt()
    /// The last saves of each field that were refused.
    var refused: [FieldPath: VectorClock] = [:]
    for (path, saves) in delta.fields {
      let fragment = delta.fragments[path]
      var missing = fragment.map { unheard($0, of: path) } ?? []
      if fragment != nil, !suspects.isEmpty {
        missing.subtract(suspects)
        missing.formUnion(refusals[path, default: []].intersection(suspects))
      }
      for place in saves.members {
        let dot = history.saves[Int(place)].dot
        let isTaken =
          fragment.map {
            $0.clock.contains(dot) && !missing.contains(dot.device)
              && !($0.isWhole && !missing.isEmpty)
          } ?? true
        if isTaken {
          knowledge.held[path, default: SaveSet()].insert(Int(place))
        } else if let fragment, fragment.clock.contains(dot),
          !fragment.basis.contains(dot)
        {
          refused[path, default: VectorClock()].advance(to: dot)
        }
      }
      receipt.gaps.formUnion(missing)
      receipt.refused += missing.isEmpty ? 0 : 1
      receipt.fragments += fragment != nil && missing.isEmpty ? 1 : 0
    }
    var taken: [DeviceID: OracleDelta.Interval] = [:]
    for (device, interval) in delta.intervals {
      // What it claims for its saves, those that were refused do not have.
      let isWaiting = refused.contains { path, saves in
        min(interval.to, saves[device])
          > max(field(path).clock[device], clock[device])
      }
      if interval.from > clock[device] {
        receipt.gaps.insert(device)
      } else if isWaiting {
        receipt.waiting += 1
      } else if interval.to > clock[device] {
        taken[device] = interval
      }
    }
    take(taken, of: delta, &receipt)
    return receipt
  }

  /// The devices of which too little is known for a part of a field.
  private func unheard(
    _ fragment: MessageOutline.Fragment, of path: FieldPath
  ) -> Set<DeviceID> {
    let seen = field(path).clock
    return Set(
      fragment.basis.entries.filter { entry in
        max(seen[entry.device], clock[entry.device]) < entry.count
      }.map(\.device))
  }

  /// Compares what a message's fragments claim with what its author knows.
  ///
  /// - Parameter basis: What it was to leave out.
  func check(
    _ fragments: [FieldPath: MessageOutline.Fragment], since basis: VectorClock
  ) throws(ScriptMismatch) {
    for (path, fragment) in fragments {
      let seen = field(path).clock
      var named = VectorClock()
      for entry in seen.entries
      where fragment.isWhole || entry.count > basis[entry.device] {
        named.advance(to: Dot(entry.device, entry.count))
      }
      try agree("saves in the fragment of \(path)", fragment.clock, named)
      try agree(
        "saves that the fragment of \(path) assumes", fragment.basis,
        named.intersection(basis))
    }
  }
}
