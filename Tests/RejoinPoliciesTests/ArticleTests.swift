// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinPolicies
import Testing

/// Compiles the code of the articles, block by block, and checks its results.
@Suite struct ArticleTests {
  struct Contact: Entity {
    let name = register("name", of: String.self)
    let phone = register("phone", of: String.self)
    let calls = counter("calls")
  }

  private let replica = ArticleTests.replica(1, at: 1000)
  private let other = ArticleTests.replica(2, at: 2000)

  private static func replica(_ device: UInt64, at time: Int64) -> Replica {
    Replica(
      device: DeviceID(device), schema: [Contact.self, Person.self],
      wallClock: WallClock { time }, makeDeviceID: { DeviceID(99) })
  }

  /// The other device writes a phone number, and `replica` receives it.
  private func otherWrites(_ phone: String) throws {
    try other.save { $0[Contact.self, "ada"].phone = phone }
    if let delta = other.delta(since: replica.version) { replica.apply(delta) }
  }

  /// A context that sets the phone number to 333, while the other device sets
  /// it to 444.
  private func contextInConflict(_ policy: MergePolicy) throws -> EditingContext
  {
    try otherWrites("222")
    let context = EditingContext(replica, mergePolicy: policy)
    context.fetch(Contact.self, key: "ada").phone = "333"
    try otherWrites("444")
    return context
  }

  private var phone: String? { replica[Contact.self, "ada"]?.phone }

  private var phones: [String?]? {
    replica[Contact.self, "ada"]?.conflictingValues(of: \.phone)
  }

  @Test func policyDecidesWrittenFields() throws {
    try replica.save { transaction in
      transaction[Person.self, "taylor"].name = "Taylor Swift"
      transaction[Person.self, "taylor"].address = "123 Main St"
      transaction[Person.self, "taylor"].phone = "(212) 555-1212"
    }
    other.merge(replica)
    let context = EditingContext(
      replica, mergePolicy: .mergeByPropertyObjectTrump)
    let taylor = context.fetch(Person.self, key: "taylor")
    taylor.name = "Taylor Jones"
    taylor.phone = "1-800-275-2273"

    // Meanwhile, another device's edits arrive.
    try other.save { transaction in
      transaction[Person.self, "taylor"].address = "123 Sesame St"
      transaction[Person.self, "taylor"].phone = "(650) 253-0000"
    }
    if let delta = other.delta(since: replica.version) { replica.apply(delta) }

    let report = try context.save()
    let written = report.writtenFields.values.first  // ["name", "phone"]
    let dropped = report.dropped.first?.field  // phone

    let saved = replica[Person.self, "taylor"]
    let name = saved?.name  // "Taylor Jones"
    let address = saved?.address  // "123 Sesame St"
    let phone = saved?.phone  // "1-800-275-2273"
    #expect(written == ["name", "phone"])
    #expect(dropped == FieldKey("phone", .register))
    #expect(name == "Taylor Jones")
    #expect(address == "123 Sesame St")
    #expect(phone == "1-800-275-2273")
  }

  @Test func siblingsAreShownAndResolved() throws {
    try replica.save { $0[Contact.self, "ada"].phone = "111" }
    try other.save { $0[Contact.self, "ada"].phone = "222" }
    if let delta = other.delta(since: replica.version) { replica.apply(delta) }

    let ada = replica[Contact.self, "ada"]
    let shown = ada?.phone  // "222", the later write
    let losers = ada?.conflictingValues(of: \.phone)  // ["111"]
    #expect(shown == "222")
    #expect(losers == ["111"])

    let context = EditingContext(replica)
    let contact = context.fetch(Contact.self, key: "ada")
    contact.phone = "111"
    try context.save()
    let saved = replica[Contact.self, "ada"]
    let left = saved?.conflictingValues(of: \.phone)  // []
    #expect(left == [])
    #expect(phone == "111")
  }

  @Test func draftIsCommittedLater() throws {
    try otherWrites("222")
    var draft = replica.draft(of: Contact.self, key: "ada")
    draft.name = "Ada"
    draft.edit { $0.calls.increment(by: 1) }
    let calls = draft.calls  // 1, not in the replica yet
    let report = try EditingContext(replica).commit(&draft)
    #expect(calls == 1)
    #expect(report.writtenFields.values.first == ["name"])
    #expect(replica[Contact.self, "ada"]?.calls == 1)

    var choice = replica.draft(of: Contact.self, key: "ada")
    choice.resolve(\.phone, with: choice.phone)
    try EditingContext(replica).commit(&choice)
    #expect(phones == [] && choice.isCommitted)

    var edit = replica.draft(of: Contact.self, key: "ada")
    edit.name = "Countess"
    try EditingContext(replica).commit(&edit, undoable: "Rename")
    try replica.undo()
    let restored = replica[Contact.self, "ada"]?.name  // "Ada"
    #expect(restored == "Ada")
  }

  @Test func customRuleDecidesFieldByField() throws {
    let longerName = MergePolicy.custom { field in
      guard field.isChangedInContext else { return .keepStore }
      guard field.isChangedInStore, field.field == "name",
        case .string(let mine)? = field.mine,
        case .string(let store)? = field.store
      else { return .writeConcurrently(field.mine) }
      return mine.count >= store.count ? .write(field.mine) : .keepStore
    }
    let context = try contextInConflict(longerName)
    context.fetch(Contact.self, key: "ada").name = "Ada"
    try other.save { $0[Contact.self, "ada"].name = "Ada Lovelace" }
    replica.merge(other)
    try context.save()
    #expect(replica[Contact.self, "ada"]?.name == "Ada Lovelace")
    #expect(phone == "333")
    #expect(phones == ["444"])
  }

  @Test func refusedSaveReportsContestedFields() throws {
    let context = try contextInConflict(.error)
    var questions: [FieldDifference] = []
    do {
      try context.save()
    } catch .conflict(let refused) {
      questions = refused.conflicts.flatMap(\.contested)
    } catch .save(let error) {
      throw error
    }
    for question in questions {
      // A row of a form.
      print(question.field, question.base as Any)
      print(question.mine as Any, question.store as Any)
    }
    #expect(questions.map(\.field) == ["phone"])
    #expect(questions.map(\.mine) == ["333"])
    #expect(questions.map(\.store) == ["444"])
    #expect(phone == "444" && context.hasChanges)
  }

  @Test func storedConflictsAreResolvedAfterRelaunch() throws {
    let context = try contextInConflict(.manual)
    try context.save()
    #expect(phone == "444")
    let stored = try JSONEncoder().encode(context.pendingConflicts)
    // After another launch:
    let later = EditingContext(replica)
    later.pendingConflicts = try JSONDecoder().decode(
      [EditConflict].self, from: stored)
    for conflict in later.pendingConflicts {
      for field in conflict.contested {
        // Show field.mine and field.store, and write what the user chooses.
        let key = FieldKey(field.field, .register)
        try later.resolve(conflict.record, [key: field.mine])
      }
    }
    #expect(phone == "333" && phones == [])
    #expect(later.pendingConflicts.isEmpty)
  }

  @Test func queuedDeletionIsResolved() throws {
    let later = try contextInConflict(.manual)
    later.delete(RecordID("Contact", "ada"))
    try later.save()
    #expect(phone == "444")
    for conflict in later.pendingConflicts where conflict.isDeletion {
      try later.resolveDeletion(of: conflict.record, deletes: true)
    }
    #expect(!replica.exists(RecordID("Contact", "ada")))
  }

  @Test func reportListsDroppedChanges() throws {
    let context = try contextInConflict(.mergeByPropertyStoreTrump)
    let report = try context.save()
    for change in report.dropped {
      switch change.content {
      case .value(let dropped, let kept):
        print("\(change.record) kept", kept.value as Any)
        print("by \(change.rule), not", dropped.value as Any)
      case .deletion:
        print("\(change.record) was not deleted")
      case .edit, .overwritten, .creation:
        print("\(change.record) lost a change to", change.field as Any)
      }
    }
    #expect(report.dropped.count == 1)
  }

  private struct Task: Entity {
    let deletions = DeletionRule.deleteWins
    let title = register("title", of: String.self)
  }

  @Test func hiddenRecordIsShownAgain() throws {
    let replica = Replica(
      device: DeviceID(1), schema: [Task.self], wallClock: WallClock { 1000 },
      makeDeviceID: { DeviceID(99) })
    try replica.save { $0[Task.self, "1"].title = "Call" }
    var draft = replica.draft(of: Task.self, key: "1")
    draft.title = "Call Ada"
    try replica.save { $0[Task.self, "1"].delete() }
    let report = try EditingContext(replica, mergePolicy: .merge).commit(&draft)
    #expect(replica[Task.self, "1"] == nil)
    #expect(report.hiddenRecords == [RecordID("Task", "1")])
    for id in report.hiddenRecords {
      try replica.save { $0.undelete(id) }
    }
    #expect(replica[Task.self, "1"]?.title == "Call Ada")
  }
}

/// This file contains every block of code of the articles.
@Suite struct ArticleCodeTests {
  @Test(arguments: ["RejoinPolicies", "ShowingAndResolvingConflicts"])
  func pageCodeIsCompiled(page: String) throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let catalogue = "Sources/RejoinPolicies/RejoinPolicies.docc"
    let text = try String(
      contentsOf: root.appending(path: "\(catalogue)/\(page).md"),
      encoding: .utf8)
    let code = try lines(
      String(contentsOf: URL(filePath: #filePath), encoding: .utf8))
    let blocks = text.components(separatedBy: "```swift\n").dropFirst()
      .compactMap { $0.components(separatedBy: "```").first }
    #expect(!blocks.isEmpty)
    for block in blocks where !code.contains(lines(block)) {
      Issue.record("\(page).md has code that is not in this file:\n\(block)")
    }
  }

  /// Returns the lines without indentation, because the code is in functions.
  private func lines(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.drop { $0 == " " } }.joined(separator: "\n")
  }
}
