// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

/// The error of a refused save names what changed in the store.
@Suite struct ConflictTextTests {
  private struct Card: Entity {
    let title = register("title", of: String.self)
    let note = register("note", of: String.self)
    let tags = set("tags", of: String.self)
  }

  private let replica = Replica(
    device: DeviceID(1), schema: [Card.self], wallClock: WallClock { 1000 },
    makeDeviceID: { DeviceID(99) })

  /// Returns the text of the error if a draft meets a later save.
  private func text(
    _ edit: (RecordEditor<Card>) -> Void,
    meeting change: (RecordEditor<Card>) -> Void
  ) throws -> String {
    try replica.save { transaction in
      let card = transaction[Card.self, "1"]
      (card.title, card.note) = ("old", "old")
    }
    var draft = replica.draft(of: Card.self, key: "1")
    draft.edit(edit)
    try replica.save { change($0[Card.self, "1"]) }
    do {
      try EditingContext(replica).commit(&draft)
      return "no conflict"
    } catch { return "\(error)" }
  }

  @Test func changedFieldIsNamed() throws {
    let text = try text {
      $0.note = "mine"
    } meeting: {
      $0.title = "theirs"
    }
    #expect(text.contains("Card/1.title"))
    #expect(!text.contains("Card/1.note"))
  }

  @Test func doublyChangedFieldIsNamedOnce() throws {
    let text = try text {
      ($0.title, $0.note) = ("mine", "mine")
    } meeting: {
      $0.title = "theirs"
    }
    #expect(text.components(separatedBy: "Card/1.title").count == 2)
    #expect(!text.contains("Card/1.note"))
  }

  @Test func deletionIsNamed() throws {
    let text = try text {
      $0.note = "mine"
    } meeting: {
      $0.delete()
    }
    #expect(text.contains("Card/1 was deleted"))
  }

  /// A deletion conflicts with a change of any field.
  @Test func changedSetIsNamedToDeletion() throws {
    let text = try text {
      $0.delete()
    } meeting: {
      $0.tags.insert("new")
    }
    #expect(text.contains("Card/1.tags"))
  }
}
