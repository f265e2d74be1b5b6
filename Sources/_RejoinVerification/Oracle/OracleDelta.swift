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

  /// The saves of each field that the author received.
  var fields: [FieldLocation: SaveSet] = [:]
  /// The fragments of fields, with the saves that they contain and those that
  /// they require.
  var fragments: [FieldLocation: MessageOutline.Fragment] = [:]
  var intervals: [DeviceID: Interval] = [:]
  /// The records that the intervals cover, or `nil` for all.
  var range: OracleRange?

  /// Returns a part with some of the fields and without intervals.
  func part(_ locations: some Sequence<FieldLocation>) -> OracleDelta {
    var part = OracleDelta()
    for location in locations {
      part.fields[location] = fields[location]
      part.fragments[location] = fragments[location]
    }
    return part
  }
}

/// The expected result of applying a delta.
struct OracleReceipt {
  /// The devices with missing saves.
  var gaps: Set<DeviceID> = []
  /// The number of fragments that were fully applied.
  var fragments = 0
  /// The number of fragments that were refused, at least in part.
  var refused = 0
  /// The number of intervals that were blocked by refused saves.
  var waiting = 0
  /// The counts of parts of transfers.
  var parts = PartCounts()
}

extension OracleReplica {
  /// Returns the changes that a replica with the saves in `basis` lacks.
  ///
  /// - Parameter receiver: The replica, if its version shows which fields are
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
      since: basis, at: receiver, withIntervalsOf: delta.intervals.keys)
    return delta.fields.isEmpty && delta.intervals.isEmpty ? nil : delta
  }

  /// Returns the fields that contain saves that a receiver lacks.
  ///
  /// Saves that the receiver has ahead of its version are left out, unless an
  /// interval of their device claims, to every reader, that they are included.
  func missing(
    since basis: VectorClock, at receiver: OracleReplica?,
    withIntervalsOf devices: some Collection<DeviceID>
  ) -> [FieldLocation: SaveSet] {
    held.filter { location, _ in
      var known = basis
      for entry in receiver?.clock(of: location).entries ?? []
      where !devices.contains(entry.device) {
        known.advance(to: Dot(entry.device, entry.count))
      }
      return !clock(of: location).isContained(in: known)
    }
  }

  /// Applies a delta.
  ///
  /// - Parameters:
  ///   - suspects: The devices that may have several histories. The oracle
  ///     doesn't know which of them a replica detected.
  ///   - refusals: For each fragment, the devices whose earlier entries the
  ///     replica reports as missing. Only reports about suspects count.
  @discardableResult
  mutating func apply(
    _ delta: OracleDelta, now: Int64, suspects: Set<DeviceID> = [],
    refusals: [FieldLocation: Set<DeviceID>] = [:]
  ) -> OracleReceipt {
    for (device, interval) in delta.intervals
    where interval.to > lastKnown(of: device) {
      knowledge.latest = max(
        knowledge.latest,
        min(interval.time.rawValue, Self.stamp(now + Self.maximumClockSkew)))
    }
    var receipt = OracleReceipt()
    /// The last refused saves of each field.
    var refused: [FieldLocation: VectorClock] = [:]
    for (location, saves) in delta.fields {
      let fragment = delta.fragments[location]
      var missing = fragment.map { unheard($0, of: location) } ?? []
      if fragment != nil, !suspects.isEmpty {
        missing.subtract(suspects)
        missing.formUnion(
          refusals[location, default: []].intersection(suspects))
      }
      for index in saves.members {
        let dot = history.saves[Int(index)].dot
        let isTaken =
          fragment.map {
            $0.clock.contains(dot) && !missing.contains(dot.device)
              && !($0.isWhole && !missing.isEmpty)
          } ?? true
        if isTaken {
          knowledge.held[location, default: SaveSet()].insert(Int(index))
        } else if let fragment, fragment.clock.contains(dot),
          !fragment.basis.contains(dot)
        {
          refused[location, default: VectorClock()].advance(to: dot)
        }
      }
      receipt.gaps.formUnion(missing)
      receipt.refused += missing.isEmpty ? 0 : 1
      receipt.fragments += fragment != nil && missing.isEmpty ? 1 : 0
    }
    var taken: [DeviceID: OracleDelta.Interval] = [:]
    for (device, interval) in delta.intervals {
      // An interval claims that its saves are fully applied, so it must wait
      // for those that were refused.
      let isWaiting = refused.contains { location, saves in
        min(interval.to, saves[device])
          > max(clock(of: location)[device], clock[device])
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

  /// Returns the devices with missing saves that a fragment requires.
  private func unheard(
    _ fragment: MessageOutline.Fragment, of location: FieldLocation
  ) -> Set<DeviceID> {
    let seen = clock(of: location)
    return Set(
      fragment.basis.entries.filter { entry in
        max(seen[entry.device], clock[entry.device]) < entry.count
      }.map(\.device))
  }

  /// Compares the claims of a message's fragments with the knowledge of its
  /// author.
  ///
  /// - Parameter basis: The clock that the message was written since.
  func check(
    _ fragments: [FieldLocation: MessageOutline.Fragment],
    since basis: VectorClock
  ) throws(ScriptMismatch) {
    for (location, fragment) in fragments {
      let seen = clock(of: location)
      var named = VectorClock()
      for entry in seen.entries
      where fragment.isWhole || entry.count > basis[entry.device] {
        named.advance(to: Dot(entry.device, entry.count))
      }
      try agree("saves in the fragment of \(location)", fragment.clock, named)
      try agree(
        "saves that the fragment of \(location) assumes", fragment.basis,
        named.intersection(basis))
    }
  }
}
