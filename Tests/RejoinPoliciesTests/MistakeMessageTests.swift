// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

/// A programming mistake stops the program with its message, even if the library
/// is optimized.
@Suite struct MistakeMessageTests {
  private struct Card: Entity {
    let title = register("title", of: String.self)
    let count = counter("count")
    let place = register("place", of: Position.self)
  }

  enum Mistake: CaseIterable, Codable {
    case editOfOtherKindInContext, editOfOtherKindInDraft
    case resolvedCounter, draftsOfOneRecord, moveByRegister

    var message: String {
      switch self {
      case .editOfOtherKindInContext, .editOfOtherKindInDraft:
        "cannot edit title, which is a register"
      case .resolvedCounter: "\"count\" is a counter. Edit it instead."
      case .draftsOfOneRecord: "Commit them one after the other."
      case .moveByRegister:
        "declared with `lww`, and \"place\" is not."
      }
    }

    func make() throws {
      let replica = Replica(
        device: DeviceID(1), schema: [Card.self],
        wallClock: WallClock { 1000 }, makeDeviceID: { DeviceID(99) })
      let title = FieldKey("title", .register)
      let increment = FieldEdit.count(CounterEdit(by: 1))
      let context = EditingContext(replica)
      var draft = replica.draft(of: Card.self, key: "1")
      switch self {
      case .editOfOtherKindInContext:
        context.apply(increment, to: title, in: draft.id)
      case .editOfOtherKindInDraft: draft.apply(increment, to: title)
      case .resolvedCounter:
        draft.resolve([FieldKey("count", .counter): .int(1)])
      case .draftsOfOneRecord:
        var drafts = [draft, draft]
        try context.commit(&drafts)
      case .moveByRegister:
        draft.edit { $0.move(by: \.place, between: nil, and: nil) }
      }
    }
  }

  @Test(arguments: Mistake.allCases)
  func messageIsShown(_ mistake: Mistake) async throws {
    let process = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [mistake] in
      try mistake.make()
    }
    let text = String(decoding: process.standardErrorContent, as: UTF8.self)
    #expect(text.contains(mistake.message), "\(text.prefix(300))")
  }
}
