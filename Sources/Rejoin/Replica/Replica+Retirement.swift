//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

// A device that will not come back stops holding up the stability cut. What it
// may have saved unheard is kept aside when it does come back.
extension Replica {
  /// Retires a device.
  ///
  /// Its last save is the greatest that anyone on the roster holds. Messages with
  /// later ones are kept aside from then on.
  ///
  /// - Throws: ``SaveError``; nothing has changed then.
  @discardableResult
  public func retire(_ retired: DeviceID) throws(SaveError) -> SaveReport {
    try save { edit in
      edit.enter(lastHeld(of: retired), in: BuiltIn.final, of: retired)
    }
  }

  /// The devices that are retired, with the number of their last save.
  public var retirements: VectorClock {
    var result = VectorClock()
    for (retired, _) in devices(in: BuiltIn.retirement) {
      result[retired] = finalSave(of: retired)
    }
    return result
  }

  /// Whether this replica saves as a device that somebody has retired: others
  /// will keep its saves aside.
  ///
  /// Fork another device's replica, and send this one's last delta for its
  /// edits to be entered again.
  public var isRetired: Bool {
    retirement(of: device) != nil
  }

  /// Messages with saves of a retired device after its last one.
  public var keptAside: [Delta] { stored.aside }

  /// Whether a device's acknowledgement is waited for: it is not retired, or
  /// somebody has yet to learn that it is.
  ///
  /// - Parameter witnesses: The devices on the roster that are not retired.
  func counts(_ other: DeviceID, among witnesses: Set<DeviceID>) -> Bool {
    guard let record = retirement(of: other) else { return true }
    let dots = finals(in: record).values.flatMap { $0.map(\.dot) }
    return !witnesses.allSatisfy { witness in
      witness == device
        || dots.contains { dot in
          dot.device == witness
            || stored.acknowledged[witness]?.contains(dot) == true
        }
    }
  }

  /// The greatest number of a retired device that anyone on the roster, other than
  /// itself, is known to hold.
  func finalSave(of retired: DeviceID) -> UInt64 {
    var last = lastHeld(of: retired)
    for (witness, clock) in stored.acknowledged where witness != retired {
      last = max(last, clock[retired])
    }
    guard let record = retirement(of: retired) else { return last }
    return finals(in: record).keys.reduce(last, Replica.greater)
  }

  /// The greatest number of a device's saves of which anything is here, be it
  /// only a field that came without the rest.
  ///
  /// Whoever holds such a field passes it on in every message. Were it not
  /// entered, all of them would be kept aside.
  private func lastHeld(of device: DeviceID) -> UInt64 {
    max(stored.clock[device].n, stored.index.last(of: device))
  }

  static func greater(_ n: UInt64, _ value: Value) -> UInt64 {
    if case .int(let number) = value {
      max(n, UInt64(bitPattern: number))
    } else {
      n
    }
  }

  /// The retired device that has saves in a message after its last one.
  func retiredDevice(
    beyondFinal delta: some DeltaContent
  ) -> DeviceID? {
    guard stored.byEntity[Name(BuiltIn.retirement)] != nil else { return nil }
    let late = delta.latest.entries.filter {
      $0.device != device && retirement(of: $0.device) != nil
        && $0.count > finalSave(of: $0.device)
    }
    if late.isEmpty { return nil }
    var entered: [RecordID: [Value]] = [:]
    delta.visit { change in
      if case .set(let field) = change.fields[BuiltIn.final] {
        entered[change.id] = field.store.elements
      }
    } interval: { _, _ in
    }
    return late.first { last in
      let retired = last.device
      let id = RecordID(BuiltIn.retirement, retired.hexadecimal)
      return last.count
        > (entered[id] ?? []).reduce(finalSave(of: retired), Replica.greater)
    }?.device
  }

  /// Adds to a save what we hold of retired devices, where it is more than has
  /// been entered.
  func noteFinalSaves(in edit: Edit, as device: DeviceID) {
    for (retired, record) in devices(in: BuiltIn.retirement)
    where retired != device {
      let held = lastHeld(of: retired)
      let entered = finals(in: record).keys.reduce(0, Replica.greater)
      if held > entered { edit.enter(held, in: BuiltIn.final, of: retired) }
    }
  }

  /// The devices that the records of a built-in entity are about.
  func devices(
    in entity: String
  ) -> [(device: DeviceID, record: RecordState)] {
    (stored.byEntity[Name(entity)] ?? []).compactMap { position in
      let record = stored.records[position]
      return DeviceID(hexadecimal: record.id.key).map { ($0, record) }
    }
  }

  /// The record of a device's retirement.
  private func retirement(of device: DeviceID) -> RecordState? {
    let id = RecordID(BuiltIn.retirement, device.hexadecimal)
    return stored.positions[id].map { stored.records[$0] }
  }

  private func finals(
    in record: RecordState
  ) -> [Value: Siblings<Presence>] {
    members(in: record, BuiltIn.final)
  }

  private func members(
    in record: RecordState, _ key: FieldKey
  ) -> [Value: Siblings<Presence>] {
    guard let number = stored.names.number(of: key),
      case .set(let field) = record[number]
    else { return [:] }
    return field.store.siblings
  }

  /// The numbers in a set of a built-in record.
  func numbers(in record: RecordState, _ key: FieldKey) -> [Value] {
    Array(members(in: record, key).keys)
  }
}

extension Edit {
  /// Enters a number in a set of a device's retirement.
  func enter(_ n: UInt64, in key: FieldKey, of retired: DeviceID) {
    apply(
      .members(SetEdit(inserting: [.int(Int64(bitPattern: n))])), to: key,
      of: RecordID(BuiltIn.retirement, retired.hexadecimal))
  }
}
