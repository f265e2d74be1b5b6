// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import Rejoin

/// A programming mistake stops the program with its message, even if the library
/// is optimized.
@Suite struct MistakeMessageTests {
  private struct Undeclared: Entity {
    let name = register("name", of: String.self)
  }

  private struct Twice: Entity {
    let one = register("name", of: String.self)
    let two = register("name", of: Int.self)
  }

  private struct Recorded: Entity {
    let record = register("record", of: String.self)
  }

  private struct Account: Entity {
    let entries = ledger("entries")
    let delete = DeletionRule.deleteWins
  }

  private struct Undecided: Entity {
    let one = DeletionRule.updateWins
    let two = DeletionRule.updateWins
  }

  private struct FirstStatic: Entity {
    static let deletion = DeletionRule.deleteWins
  }

  private struct SecondStatic: Entity {
    static let deletions = DeletionRule.deleteWins
  }

  private struct ThirdStatic: Entity {
    static var deletionRule: DeletionRule { .deleteWins }
  }

  private struct Renamed: Entity { static let entityName = "Sailor" }
  private struct Reserved: Entity { static let entityName = BuiltIn.roster }

  enum Mistake: CaseIterable, Codable {
    case undeclaredEntity, undeclaredEdit, longEntity, fieldsOfOneName
    case fieldNamedRecord, fieldNamedEntries
    case rules, staticDeletion, staticDeletions
    case staticDeletionRule, entitiesOfOneName, reservedEntity, quietCounter
    case fieldWithoutName, editOfOtherKind, counterInPull, negativeLimit
    case usedDevice, usedDeviceOfToken, changesOfOneRecord
    case positionBeforeInnerSave, positionOfInnerSave, positionBeforeFork

    var message: String {
      switch self {
      case .undeclaredEntity: "does not declare the entity \"Undeclared\""
      case .undeclaredEdit: "schema: [Undeclared.self]"
      case .longEntity: "use at most 255"
      case .fieldsOfOneName: "declares two fields named \"name\""
      case .fieldNamedRecord: "which every record has already"
      case .fieldNamedEntries: "has a property named `entries`"
      case .rules: "declares 2 deletion rules"
      case .staticDeletion: "FirstStatic has a static deletion rule"
      case .staticDeletions: "SecondStatic has a static deletion rule"
      case .staticDeletionRule: "remove the word `static`"
      case .entitiesOfOneName: "two entities are named \"Sailor\""
      case .reservedEntity: "is reserved for the library"
      case .quietCounter: "`quietFields` must be registers"
      case .fieldWithoutName: "must have 1 to 255 bytes"
      case .editOfOtherKind: "does not fit the field \"name\" of Sailor/ada"
      case .counterInPull: "write only registers"
      case .negativeLimit: "`limit` must not be negative"
      case .usedDevice: "fork under a device ID that is new"
      case .usedDeviceOfToken: "an ID that is new each time"
      case .changesOfOneRecord: "two changes are of Sailor/ada"
      case .positionBeforeInnerSave, .positionOfInnerSave, .positionBeforeFork:
        "A position was made before another save of the replica"
      }
    }

    func make() throws {
      let replica = Replica.empty(1)
      let name = FieldKey("name", .register)
      switch self {
      case .undeclaredEntity: _ = replica[Undeclared.self, "1"]
      case .undeclaredEdit:
        try replica.save { $0[Undeclared.self, "1"].ensureExists() }
      case .longEntity:
        let entity = String(repeating: "e", count: 256)
        try replica.save { $0.ensureExists(RecordID(entity, "1")) }
      case .fieldsOfOneName: _ = [Twice.self] as Schema
      case .fieldNamedRecord: _ = [Recorded.self] as Schema
      case .fieldNamedEntries: _ = [Account.self] as Schema
      case .rules: _ = [Undecided.self] as Schema
      case .staticDeletion: _ = [FirstStatic.self] as Schema
      case .staticDeletions: _ = [SecondStatic.self] as Schema
      case .staticDeletionRule: _ = [ThirdStatic.self] as Schema
      case .entitiesOfOneName: _ = [Sailor.self, Renamed.self] as Schema
      case .reservedEntity: _ = [Reserved.self] as Schema
      case .quietCounter:
        let count = FieldKey("count", .counter)
        _ = Schema(["Item": .init(fields: [count], quietFields: [count])])
      case .fieldWithoutName: _ = FieldKey("", .register)
      case .editOfOtherKind:
        try replica.save {
          $0.apply(.count(CounterEdit(by: 1)), to: name, of: Sailor.ada)
        }
      case .counterInPull:
        try replica.importRows(from: "crm", modifiedAt: 5) {
          $0[Sailor.self, "ada"].miles.increment()
        }
      case .negativeLimit: _ = replica.recordIDs(of: "Sailor", limit: -1)
      case .usedDevice:
        try replica.write("ada", value: "Ada")
        _ = replica.fork(as: replica.device)
      case .usedDeviceOfToken:
        try replica.write("ada", value: "Ada")
        let old = replica.state
        try replica.write("ada", value: "Countess")
        _ = replica.delta()
        _ = Replica.opening(old, token: replica.restoreToken, as: 1)
      case .changesOfOneRecord:
        let change = Delta.Change(id: Sailor.ada)
        _ = Delta([change, change])
      case .positionBeforeInnerSave:
        try replica.save { transaction in
          let position = transaction.position(between: nil, and: nil)
          _ = try? replica.save { $0[Sailor.self, "grace"].ensureExists() }
          let name = FieldKey("name", .register)
          transaction.apply(
            .write(position.fieldValue), to: name, of: Sailor.ada)
        }
      case .positionOfInnerSave:
        // The outer save writes nothing.
        try replica.save { transaction in
          let position = transaction.position(between: nil, and: nil)
          _ = try? replica.save { inner in
            inner.apply(
              .write(position.fieldValue), to: FieldKey("name", .register),
              of: Sailor.ada)
          }
        }
      case .positionBeforeFork:
        let copy = Replica.empty(1)
        try copy.save { $0[Sailor.self, "grace"].ensureExists() }
        guard let delta = copy.delta() else { return }
        try replica.save { transaction in
          let position = transaction.position(between: nil, and: nil)
          replica.apply(delta)
          transaction.apply(
            .write(position.fieldValue), to: FieldKey("name", .register),
            of: Sailor.ada)
        }
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
