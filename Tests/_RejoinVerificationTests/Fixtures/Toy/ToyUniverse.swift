// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification

extension ScriptUniverse {
  /// Two records that an update restores and one that it does not, with a field
  /// of each kind of a toy replica.
  static let toy: ScriptUniverse = {
    let kinds: [FieldKind] = [.register, .counter, .set]
    let fields = kinds.map { FieldKey($0.rawValue, $0) }
    return ScriptUniverse(
      schema: Schema([
        "Note": .init(fields: Set(fields)),
        "Task": .init(fields: Set(fields), deletion: .deleteWins),
      ]),
      records: [
        RecordID("Note", "a"), RecordID("Note", "b"), RecordID("Task", "a"),
      ],
      fields: fields)
  }()
}
