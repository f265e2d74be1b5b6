//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//
import Rejoin

extension OracleReplica {
  /// Retires a device, and enters what is here of it.
  mutating func retire(_ retired: DeviceID, now: Int64) -> Int? {
    save([entering(lastHeld(of: retired), of: retired)], now: now)
  }

  /// What a save has to enter of retired devices, where it is more than has been
  /// entered.
  var finalSavesToEnter: [ScriptVerb] {
    retirements.compactMap { retired, entered in
      let n = lastHeld(of: retired)
      return retired != device && n > entered
        ? entering(n, of: retired) : nil
    }
  }

  /// The greatest number of a device's saves of which anything has been heard.
  private func lastHeld(of device: DeviceID) -> UInt64 {
    held.values.flatMap(\.members).reduce(clock[device]) { last, place in
      let dot = history.saves[Int(place)].dot
      return dot.device == device ? max(last, dot.n) : last
    }
  }

  /// The retired devices, with the greatest number of each that was entered.
  private var retirements: [DeviceID: UInt64] {
    var result: [DeviceID: UInt64] = [:]
    for path in held.keys where path.id.entity == BuiltIn.retirement {
      guard let retired = DeviceID(hexadecimal: path.id.key) else { continue }
      let entered = field(path).elements.reduce(0 as UInt64) { last, value in
        if case .int(let n) = value { max(last, UInt64(n)) } else { last }
      }
      result[retired] = max(result[retired] ?? 0, entered)
    }
    return result
  }

  /// Whether a message has saves of a retired device after the last one that was
  /// entered.
  func mayKeepAside(_ delta: OracleDelta) -> Bool {
    var informed = self
    for (path, saves) in delta.fields
    where path.id.entity == BuiltIn.retirement {
      informed.knowledge.held[path, default: SaveSet()].formUnion(saves)
    }
    let saves = delta.saves(in: history)
    return retirements.keys.contains { retired in
      retired != device
        && saves[retired] > (informed.retirements[retired] ?? 0)
    }
  }

  private func entering(_ n: UInt64, of retired: DeviceID) -> ScriptVerb {
    .edit(
      RecordID(BuiltIn.retirement, retired.hexadecimal), BuiltIn.final,
      .members(SetEdit(inserting: [.int(Int64(n))])))
  }
}

extension OracleDelta {
  /// Of each device the last save in the delta.
  func saves(in history: OracleHistory) -> VectorClock {
    var clock = VectorClock()
    for (device, interval) in intervals {
      clock.insert(Dot(device, interval.to))
    }
    for saves in fields.values {
      for place in saves.members { clock.insert(history.saves[Int(place)].dot) }
    }
    return clock
  }
}
