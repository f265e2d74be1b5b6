// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The number that a counter must show in the end.
///
/// It is the sum of the base and every increment that no reset had seen.
struct CounterFacts {
  let field: String
  private let base: Int64
  /// The change of each device.
  private var all: [Change] = []

  /// The net change of one device.
  struct Change {
    let device: String
    /// The sum of the increments after the last reset.
    var amount: Int64 = 0
    /// Whether the device reset the counter, which removes the base.
    var isReset = false
    /// Whether the device then deleted the record, so the change is optional.
    var isWithdrawn = false
    /// Whether the device changed the counter, not only the record.
    var isEdit = false
  }

  init(_ field: String, base: Content?, _ histories: [History]) {
    self.field = field
    self.base = base.map { [field: $0].count(field) } ?? 0
    for history in histories {
      var change = Change(device: history.device)
      change.isWithdrawn = history.isDeleted
      for verb in history.verbs(on: field) {
        change.isEdit = true
        switch verb {
        case .add(let amount):
          change.amount = change.amount.addingClamped(amount)
        case .clear: (change.amount, change.isReset) = (0, true)
        case .forget:
          (change.amount, change.isReset, change.isEdit) = (0, true, false)
        case .set(.int(let number)):
          (change.amount, change.isReset) = (number, true)
        case .set, .remove, .insert: break
        }
      }
      if change.isEdit || change.isReset { all.append(change) }
    }
  }

  var changes: [Change] { all.filter { $0.isEdit && !$0.isWithdrawn } }

  /// Judges the counter in a final record.
  ///
  /// - Parameter state: The final record, or `nil` if it does not exist
  ///   although it should.
  func verdict(_ state: PlainRecord?, _ remains: Remains) -> FieldVerdict {
    var verdict = FieldVerdict()
    verdict.hasBase = changes.isEmpty && base != 0
    let found = state?.count(field) ?? 0
    let nearest = [true, false].map(sum).min {
      $0.distance(from: found) < $1.distance(from: found)
    }
    for change in changes { verdict.fates[change.device] = .shown }
    guard let nearest, state == nil || nearest != found else { return verdict }
    let fates = fates(remains)
    let lost = state == nil ? nil : leastLost(found, fates)
    if lost == [] { return verdict }
    verdict.counterUnits = nearest.distance(from: found)
    verdict.losesBase = verdict.hasBase
    for change in all where lost?.contains(change.device) ?? true {
      // A record that was created again does not contain the base.
      if change.isEdit {
        verdict.fates[change.device] = fates[change.device]
      } else {
        verdict.losesBase = true
      }
    }
    verdict.words = [
      "\(field) is \(found.grouped), not \(nearest.grouped)"
    ]
    return verdict
  }

  private func sum(countingWithdrawn: Bool) -> Int64 {
    let counted = all.filter { countingWithdrawn || !$0.isWithdrawn }
    return counted.reduce(all.contains(where: \.isReset) ? 0 : base) {
      $0.addingClamped($1.amount)
    }
  }

  /// Returns the fate of each device's change if the counter does not contain
  /// it.
  private func fates(_ remains: Remains) -> [String: Fate] {
    changes.reduce(into: [:]) { fates, change in
      let own = (change.isReset ? 0 : base).addingClamped(change.amount)
      fates[change.device] = remains.fate { $0 == .count(own) }
    }
  }
}

extension CounterFacts {
  /// A number that the counter would show if some changes were lost.
  private struct Number: Hashable {
    var sum: Int64 = 0
    var isReset = false
  }

  /// The changes that must be lost to reach a number.
  private struct Lost {
    /// The numbers of lost changes that are not kept, that are also not
    /// reported, and in total.
    var cost = (0, 0, 0)
    var devices: [String] = []
  }

  /// The maximum number of sums that the search for an explanation stores.
  private static let limit = 1 << 16

  /// Finds the devices whose missing changes explain a counter at the lowest
  /// cost.
  ///
  /// - Returns: The devices, or `nil` if no changes explain the counter or the
  ///   number of sums exceeds the limit.
  private func leastLost(_ found: Int64, _ fates: [String: Fate]) -> [String]? {
    var least: [Number: Lost] = [Number(): Lost()]
    for change in all {
      var next: [Number: Lost] = [:]
      func take(_ number: Number, _ lost: Lost) {
        if let other = next[number], other.cost <= lost.cost { return }
        next[number] = lost
      }
      for (number, lost) in least {
        take(
          Number(
            sum: number.sum &+ change.amount,
            isReset: number.isReset || change.isReset),
          lost)
        var without = lost
        if !change.isWithdrawn {
          let fate = fates[change.device]
          without.cost.0 += fate?.isLoss == true ? 1 : 0
          without.cost.1 += fate == .dropped ? 1 : 0
          without.cost.2 += 1
          without.devices.append(change.device)
        }
        take(number, without)
      }
      if next.count > Self.limit { return nil }
      least = next
    }
    let explanations = [
      least[Number(sum: found &- base, isReset: false)],
      least[Number(sum: found, isReset: true)],
    ].compactMap(\.self)
    return explanations.min { $0.cost < $1.cost }?.devices
  }
}

extension Int64 {
  /// The absolute difference, clamped to the range of `Int`.
  func distance(from other: Int64) -> Int {
    let difference =
      self > other
      ? UInt64(bitPattern: self &- other) : UInt64(bitPattern: other &- self)
    return Int(clamping: difference)
  }
}
