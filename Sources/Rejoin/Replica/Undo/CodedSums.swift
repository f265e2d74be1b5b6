// SPDX-License-Identifier: Apache-2.0

/// The encoded form of a change of a counter or a ledger.
struct CodedSums: Codable {
  /// The opposite of an amount that the save added.
  struct Amount: Codable {
    let amount: Int64
    let memo: Value?
  }

  /// The change of the decision which changes of a device are canceled.
  struct Decision: Codable {
    let device: DeviceID
    /// The decision before the save, or `nil` without one.
    let before: Cancellation?
    let after: Cancellation
  }

  /// The number of the device's change, or of its first entry in a ledger.
  let first: UInt64
  let amounts: [Amount]
  let decisions: [Decision]

  init(first: UInt64, amounts: [Amount], decisions: [Decision]) {
    (self.first, self.amounts) = (first, amounts)
    self.decisions = decisions
  }

  init(
    _ amounts: [LedgerEdit.Entry], from first: UInt64,
    _ decisions: [DeviceID: UndoStep.Decision]
  ) {
    self.first = first
    self.amounts = amounts.map { Amount(amount: $0.amount, memo: $0.memo) }
    self.decisions = decisions.sorted { $0.key < $1.key }.map {
      device, change in
      let before = change.before == Cancellation() ? nil : change.before
      return Decision(device: device, before: before, after: change.after)
    }
  }

  /// Returns the change of a save.
  ///
  /// - Parameter empty: The sums of a field without changes.
  func change(
    of empty: UndoSums, by save: UndoStep.Point
  ) throws(UndoFault) -> UndoStep.Change {
    try require(first > 0, "Changes must be numbered from one.")
    let devices = decisions.map(\.device)
    try require(
      zip(devices, devices.dropFirst()).allSatisfy(<),
      "Devices must be sorted, one entry for each.")
    var changes: [DeviceID: UndoStep.Decision] = [:]
    for decision in decisions {
      let change = UndoStep.Decision(
        before: decision.before ?? Cancellation(), after: decision.after)
      try require(
        change.before < change.after
          && empty.allows(change.before) && empty.allows(change.after),
        "\"after\" must be a later decision than \"before\", and sums must be "
          + "within the range of so many amounts.")
      changes[decision.device] = change
    }
    let own = amounts.map { LedgerEdit.Entry(amount: $0.amount, memo: $0.memo) }
    return UndoStep.Change(
      save: save, position: first, before: .sums(own, changes), superseded: nil)
  }
}
