// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting

extension FieldKind {
  /// An edit that cancels the content of a counter or a ledger.
  var canceling: FieldEdit {
    self == .counter
      ? .count(CounterEdit(by: 0, isReset: true)) : .append(.cancelling)
  }

  /// Returns an edit that adds an amount to a counter or a ledger.
  func edit(adding amount: Int64) -> FieldEdit {
    if self == .counter { return .count(CounterEdit(by: amount)) }
    var edit = LedgerEdit()
    edit.append(amount, memo: "memo")
    return .append(edit)
  }
}

/// A way to cancel a counter or a ledger of a record.
enum Canceling: CaseIterable {
  case resettingCounter
  case cancelingLedger
  case recreatingCounter
  case recreatingLedger

  private static let miles = FieldKey("miles", .counter)
  private static let pay = FieldKey("pay", .ledger)

  var key: FieldKey {
    switch self {
    case .resettingCounter, .recreatingCounter: Self.miles
    case .cancelingLedger, .recreatingLedger: Self.pay
    }
  }

  /// The value that a replica shows, or `nil` if the record does not exist.
  func value(on replica: Replica) -> Int64? {
    guard let record = replica.record(Sailor.ada), record.exists else {
      return nil
    }
    return key.kind == .counter
      ? record.count(of: key) : record.total(of: key)
  }

  func add(_ amount: Int64, on replica: Replica) throws {
    try replica.save {
      $0.apply(key.kind.edit(adding: amount), to: key, of: Sailor.ada)
    }
  }

  /// Cancels the content and adds an amount in the same save, unless it is
  /// zero.
  @discardableResult
  func cancel(
    on replica: Replica, adding amount: Int64 = 0
  ) throws -> SaveReport {
    try replica.save(undoable: "Cancel") { transaction in
      switch self {
      case .resettingCounter, .cancelingLedger:
        transaction.apply(key.kind.canceling, to: key, of: Sailor.ada)
      case .recreatingCounter, .recreatingLedger:
        transaction.delete(Sailor.ada)
        transaction[Sailor.self, "ada"].name = "Ada"
      }
      if amount == 0 { return }
      transaction.apply(key.kind.edit(adding: amount), to: key, of: Sailor.ada)
    }
  }
}

extension UndoResult {
  /// The fields that were not reverted, or `nil` if no save was undone.
  var left: [String]? {
    switch self {
    case .done(let report): report.unrevertedFields.map(\.field.name)
    case .prevented(let fields): fields.map(\.field.name)
    case .nothing: nil
    }
  }

  var isPrevented: Bool {
    if case .prevented = self { true } else { false }
  }
}

extension RandomChanges {
  /// Returns one of the decisions, turned to cancel no changes.
  static func turns(
    of decisions: [DeviceID: Cancellation], _ random: inout SeededRandom
  ) -> [DeviceID: Cancellation] {
    let devices = decisions.keys.sorted()
    if devices.isEmpty { return [:] }
    let device = random.pick(devices)
    return decisions[device]?.turned(to: Cancellation()).map { [device: $0] }
      ?? [:]
  }
}
