// SPDX-License-Identifier: Apache-2.0
import Rejoin

extension OracleReplica {
  /// Retires a device at its greatest known sequence number.
  mutating func retire(_ retired: DeviceID, now: Int64) -> Int? {
    save([retirement(of: retired, isAuthor: retired == device)], now: now)
  }

  /// Returns the retirement that a device's first save adds for its
  /// predecessor, or that a device adds for itself.
  ///
  /// - Parameter isAuthor: Whether the retired device makes the save, which is
  ///   then its last.
  func retirement(of retired: DeviceID, isAuthor: Bool = false) -> ScriptVerb {
    let location = location(ofRetirement: retired)
    let last = max(
      lastHeard(of: retired) + (isAuthor ? 1 : 0),
      retiredNumber(of: retired) ?? 0)
    return .edit(
      location.record, location.field, .write(.int(Int64(clamping: last))))
  }

  private func location(ofRetirement device: DeviceID) -> FieldLocation {
    FieldLocation(
      record: RecordID(BuiltIn.retirement, device.hexadecimal),
      field: BuiltIn.last)
  }

  /// Returns the greatest sequence number among the retirements of a device.
  func retiredNumber(of device: DeviceID) -> UInt64? {
    field(location(ofRetirement: device)).siblings.map { sibling in
      if case .int(let n) = sibling.value {
        UInt64(clamping: n)
      } else {
        0 as UInt64
      }
    }.max()
  }

  /// Returns whether a device is retired, with no saves after its retirement.
  func isRetired(_ device: DeviceID) -> Bool {
    retiredNumber(of: device).map { clock[device] <= $0 } ?? false
  }

  /// Returns the devices that were retired at an earlier clock and no longer
  /// are.
  func returned(
    among devices: some Sequence<DeviceID>, since before: VectorClock
  ) -> Set<DeviceID> {
    Set(
      devices.filter { device in
        guard let last = retiredNumber(of: device) else { return false }
        return before[device] <= last && clock[device] > last
      })
  }

  /// The devices that must receive a save before it is stable.
  var roster: Set<DeviceID> {
    Set(clock.entries.map(\.device)).subtracting(pullDevices())
      .subtracting(history.imports).filter { !isRetired($0) }
  }

  /// Returns the greatest sequence number of a device that was received in any
  /// field.
  private func lastHeard(of device: DeviceID) -> UInt64 {
    held.values.flatMap(\.members).reduce(clock[device]) { last, index in
      let dot = history.saves[Int(index)].dot
      return dot.device == device ? max(last, dot.sequence) : last
    }
  }
}

extension OracleDelta {
  /// Returns the last save of each device that the message names.
  func saves(in history: OracleHistory) -> VectorClock {
    var clock = VectorClock()
    for (device, interval) in intervals {
      clock.advance(to: Dot(device, interval.to))
    }
    for (location, saves) in fields {
      if let fragment = fragments[location] {
        // The rest of the field is not in the message.
        clock.merge(fragment.clock)
        continue
      }
      for index in saves.members {
        let save = history.saves[Int(index)]
        clock.advance(to: save.dot)
        let isFollowed = saves.members.contains {
          history.saves[Int($0)].edits[location]?.seen.contains(Int(index))
            ?? false
        }
        if !isFollowed, let mark = save.edits[location]?.mark {
          clock.merge(mark.seen)
        }
      }
    }
    return clock
  }
}
