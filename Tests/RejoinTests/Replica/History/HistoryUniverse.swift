//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

@testable import Rejoin

/// The records and fields that random histories are about.
enum HistoryUniverse {
  static let schema = Schema([
    "Note": .init(),
    "Task": .init(deletion: .deleteWins),
    "Draft": .init(isLocalOnly: true),
  ])

  static let ids = [
    RecordID("Note", "a"), RecordID("Note", "b"), RecordID("Task", "a"),
    RecordID("Draft", "a"),
  ]

  static let keys = FieldKind.allCases.map { FieldKey($0.rawValue, $0) }

  static let paths = ids.flatMap { id in
    keys.map { FieldPath(id: id, key: $0) }
  }

  /// One to five verbs, most of them on the records that travel.
  static func verbs(_ random: inout HistoryRandom) -> [HistoryVerb] {
    (0...random.below(5)).map { _ in verb(&random) }
  }

  private static func verb(_ random: inout HistoryRandom) -> HistoryVerb {
    let id = random.pick(ids)
    switch random.below(20) {
    case 0: return .touch(id)
    case 1, 2, 3: return .delete(id)
    default:
      let key = random.pick(keys)
      return .edit(id, key, edit(of: key.kind, &random))
    }
  }

  private static func edit(
    of kind: FieldKind, _ random: inout HistoryRandom
  ) -> FieldEdit {
    switch kind {
    case .register: .write(random.chance(15) ? nil : number(&random))
    case .lww: .write(random.chance(15) ? nil : element(&random))
    case .counter: .count(count(&random))
    case .set, .removeWinsSet: .members(members(&random))
    case .ledger: .append(entries(&random))
    }
  }

  private static func number(_ random: inout HistoryRandom) -> Value {
    random.chance(10) ? .null : .int(Int64(random.below(50)))
  }

  private static func element(_ random: inout HistoryRandom) -> Value {
    random.chance(30)
      ? .reference(random.pick(ids)) : .string(random.pick(["x", "y", "z"]))
  }

  private static func count(_ random: inout HistoryRandom) -> CounterEdit {
    CounterEdit(
      by: Int64(random.below(9)) - 4, isReset: random.chance(20))
  }

  private static func members(_ random: inout HistoryRandom) -> SetEdit {
    if random.chance(12) { return .clearing }
    return random.chance(60)
      ? SetEdit(inserting: [element(&random)])
      : SetEdit(inserting: [], removing: [element(&random)])
  }

  private static func entries(_ random: inout HistoryRandom) -> LedgerEdit {
    var edit: LedgerEdit = random.chance(10) ? .cancelling : LedgerEdit()
    edit.append(Int64(random.below(9)) - 4, memo: element(&random))
    return edit
  }
}

extension Replica {
  /// Saves as the verbs say.
  @discardableResult
  func save(verbs: [HistoryVerb]) throws -> SaveReport {
    try save { edit in
      for verb in verbs {
        switch verb {
        case .touch(let id): edit.touch(id)
        case .delete(let id): edit.delete(id)
        case .edit(let id, let key, let change):
          edit.apply(change, to: key, of: id)
        }
      }
    }
  }
}
