// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import _RejoinVerification

/// The card in another version of the app, which cannot read all values, and
/// which replaced the counter and the set by registers.
private struct OtherCard: Entity {
  static let entityName = PolicyTable.card.entity

  let f0 = register("f0", of: OnlyOne.self)
  let f1 = register("f1", of: OnlyOne.self)
  let f2 = register("f2", of: Reference<OtherCard>.self)
  let f3 = register("f3", of: OnlyOne.self)
  let counted = register(
    "c", of: Int64.self, fallingBackTo: .counter { $0 })
  let listed = register(
    "s", of: Int64.self, fallingBackTo: .set(of: Int64.self) { $0 })
}

extension RecordEditor<OtherCard> {
  /// Assigns every field as it reads.
  fileprivate func writeBack() {
    self.f0 = self.f0
    self.f1 = self.f1
    self.f2 = self.f2
    self.f3 = self.f3
    self.counted = self.counted
    self.listed = self.listed
  }
}

extension PolicyTable {
  /// Writes every field of the context back as another version of the app reads
  /// it, which must not be an edit.
  ///
  /// After a deletion, an assignment creates the record again.
  func writeBack(in context: EditingContext) throws(FuzzFailure) {
    if isDeletion { return }
    let hadChanges = context.hasChanges
    context.fetch(OtherCard.self, key: Self.card.key).writeBack()
    try equal(
      "changes after writing back", context.hasChanges, hadChanges)
  }

  /// Writes every field back in a draft, which must not be an edit, and in a
  /// save, which must keep the values.
  func checkWritingBack(to replica: Replica) throws {
    var draft = replica.draft(of: OtherCard.self, key: Self.card.key)
    draft.edit { $0.writeBack() }
    try require(!draft.hasChanges, "writing back is an edit of a draft")
    if !fetched.exists { return }
    let copy = replica.fork(as: DeviceID(53))
    try copy.save { $0[OtherCard.self, Self.card.key].writeBack() }
    let after = copy.fetched(Self.card)
    for key in keys {
      try equal(
        "\(key) after a save wrote it back", after[key].value,
        fetched[key].value)
    }
  }
}
