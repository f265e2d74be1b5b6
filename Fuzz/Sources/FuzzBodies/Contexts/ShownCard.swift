// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL
import RejoinStore
import _RejoinVerification

/// Compares a table and a list with the card that they show.
struct ShownCard {
  private struct Card: Entity {
    let f0 = register("f0", of: Value.self)
    let f1 = register("f1", of: Value.self)
    let f2 = register("f2", of: Value.self)
    let f3 = register("f3", of: Value.self)
    let f4 = register("f4", of: Value.self)
    let count = counter("c")
    let elements = set("s", of: Value.self)
    let total = ledger("l")
  }

  private let replica: Replica
  private let quiet: Set<FieldKey>
  private let followed: FollowedRecords<Card>

  /// Follows a replica, which has no records yet.
  init(_ replica: Replica, quiet: Set<FieldKey>) throws(FuzzFailure) {
    (self.replica, self.quiet) = (replica, quiet)
    let table = RecordTable(of: Card.self, "cards") {
      $0.column("f0", \.f0)
      $0.column("f1", \.f1)
      $0.column("f2", \.f2)
      $0.column("f3", \.f3)
      $0.column("f4", \.f4)
      $0.column("count", \.count)
      $0.column("elements", \.elements)
      $0.column("total", \.total)
      $0.conflictCount("conflicts")
    }
    do {
      followed = try FollowedRecords(
        replica, table, where: { $0.f0 != .string("x") }, sortedBy: \.f1)
    } catch { throw FuzzFailure("no table can be made: \(error)") }
  }

  /// Lets the table and the list follow a change, and compares both.
  func check(after change: String) throws(FuzzFailure) {
    let rows: [[SQLValue]]
    do {
      try followed.follow()
      rows = try followed.rows(columnCount: 10)
    } catch { throw FuzzFailure("the table after \(change): \(error)") }
    let card = replica.fetched(PolicyTable.card)
    let registers = (0...4).map { FieldKey("f\($0)", .register) }
    try equal(
      "the table after \(change)", rows,
      card.exists ? [row(of: card, registers)] : [])
    let isListed = card.exists && card[registers[0]].value != .string("x")
    try equal(
      "the list after \(change)", followed.elements.map(\.id),
      isListed ? [PolicyTable.card.key] : [])
    guard let element = followed.elements.first else { return }
    try equal(
      "the values in the list after \(change)",
      [element.f0, element.f1, element.f2, element.f3, element.f4],
      registers.map { card[$0].value })
  }

  private func row(of card: Record, _ registers: [FieldKey]) -> [SQLValue] {
    let values = registers.map { key -> SQLValue in
      switch card[key].value {
      case .int(let number): .integer(number)
      case .string(let text): .text(text)
      default: .null
      }
    }
    let conflicts = registers.count { key in
      !quiet.contains(key) && Set(card[key].writes.map(\.value)).count > 1
    }
    let (count, set, total) = (
      card[FieldKey("c", .counter)], card[FieldKey("s", .set)],
      card[FieldKey("l", .ledger)]
    )
    let elements = set.elements.map { "\($0)" }.joined(separator: ",")
    return [.text(card.id.key)] + values + [
      .integer(count.count), .text("[\(elements)]"), .integer(total.total),
      .integer(Int64(conflicts)),
    ]
  }
}
