// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification

/// Whole fields with their clocks, and the saves that they complete.
struct ToyMessage: Hashable {
  /// The saves of one device that the message contains completely.
  struct Interval: Hashable {
    let from: UInt64
    let to: UInt64
    let time: Timestamp
  }

  /// The sender of the message.
  ///
  /// Only a hazard uses it.
  let sender: DeviceID?
  var fields: [FieldLocation: ToyField] = [:]
  var intervals: [DeviceID: Interval] = [:]
}

extension ToyReplica {
  typealias Message = ToyMessage

  func message(since basis: ReplicaVersion) -> ToyMessage? {
    let known = basis.vectorClock
    let isSigned = hazard == .identityTravels
    var message = ToyMessage(sender: isSigned ? device : nil)
    message.fields = fields.filter { location, field in
      var known = known
      for entry in basis.fieldsAhead[location.digest]?.entries ?? []
      where vector[entry.device] <= known[entry.device] {
        known.advance(to: Dot(entry.device, entry.count))
      }
      return !field.clock.isContained(in: known)
    }.mapValues(\.canonical)
    for entry in vector.entries where entry.count > known[entry.device] {
      message.intervals[entry.device] = .init(
        from: known[entry.device], to: entry.count,
        time: times[entry.device] ?? .zero)
    }
    let isEmpty = message.fields.isEmpty && message.intervals.isEmpty
    return isEmpty ? nil : message
  }

  func parts(of message: ToyMessage, count: Int) -> [ToyMessage] {
    let locations = message.fields.keys.sorted()
    return (0..<count).map { i in
      var part = ToyMessage(sender: message.sender)
      for location in locations[
        (i * locations.count / count)..<((i + 1) * locations.count / count)]
      {
        part.fields[location] = message.fields[location]
      }
      return part
    }
  }

  func outline(of message: ToyMessage) -> MessageOutline {
    MessageOutline(
      fields: Set(message.fields.keys),
      intervals: message.intervals.mapValues {
        .init(from: $0.from, to: $0.to)
      })
  }

  mutating func apply(_ message: ToyMessage, now: Int64) -> MessageReceipt {
    for (device, interval) in message.intervals
    where interval.to > vector[device] && hazard != .deafClock {
      hybrid.receive(interval.time, now: now)
    }
    for (location, field) in message.fields {
      self[location].join(field, at: device)
    }
    var receipt = MessageReceipt()
    let before = vector
    for (device, interval) in message.intervals {
      if interval.from > vector[device] {
        receipt.gaps.insert(device)
        if hazard != .deltaTakenAsReceived { continue }
      }
      if interval.to > vector[device] {
        vector.advance(to: Dot(device, interval.to))
        times[device] = interval.time
      }
    }
    receipt.returned = Set(
      message.intervals.keys.filter { device in
        guard let last = retirement(of: device) else { return false }
        return before[device] <= last && vector[device] > last
      })
    spoil(message, now: now)
    return receipt
  }

  mutating func recordVersion(of other: ToyReplica, now: Int64) {
    // Missing saves of the other device may not have seen the rest.
    if other.vector[other.device] <= vector[other.device]
      || hazard == .unsentSavesIgnored
    {
      acknowledged[other.device, default: VectorClock()].merge(other.vector)
    }
    raiseCut()
  }
}

extension FieldLocation {
  /// The number of the field in a clock.
  var digest: UInt64 {
    var digest = Digest()
    digest.add("\(self)")
    return digest.value
  }
}

// Effects of hazards after a message was joined.
extension ToyReplica {
  private mutating func spoil(_ message: ToyMessage, now: Int64) {
    switch hazard {
    case .fieldClockTakenAsReceived:
      for field in message.fields.values { vector.merge(field.clock) }
    case .identityTravels: device = message.sender ?? device
    case .payloadDroppedDotsKept:
      for id in Set(message.fields.keys.map(\.record)) where isDead(id) {
        for location in locations(of: id) { fields[location]?.entries = [] }
      }
    case .clockEntriesExpire:
      for location in message.fields.keys { expire(location, now: now) }
    default: break
    }
  }

  private mutating func expire(_ location: FieldLocation, now: Int64) {
    for entry in self[location].clock.entries
    where now - (times[entry.device]?.milliseconds ?? now) > 3_600_000
      && !self[location].entries.contains(where: {
        $0.dot.device == entry.device
      })
    {
      fields[location]?.clock[entry.device] = 0
    }
  }
}
