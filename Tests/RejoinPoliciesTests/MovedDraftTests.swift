// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import RejoinTesting
import Testing

/// Drafts and contexts that move records, whose positions are made in the save.
@Suite struct MovedDraftTests {
  private struct Card: Entity {
    let title = register("title", of: String.self)
    let position = lww("position", of: Position.self)
  }

  private static func replica(_ device: UInt64) -> Replica {
    Replica(
      device: DeviceID(device), schema: [Card.self],
      wallClock: WallClock { 1000 }, makeDeviceID: { DeviceID(99) })
  }

  /// A replica with the cards "a", "b" and "c".
  private let replica: Replica

  init() throws {
    replica = Self.replica(1)
    try replica.save { transaction in
      var last: Position?
      for key in ["a", "b", "c"] {
        last = transaction.position(between: last, and: nil)
        transaction[Card.self, key].position = last
      }
    }
  }

  private var order: [String] {
    replica.records(of: Card.self).filter { $0.position != nil }
      .sorted { $0.position! < $1.position! }.map(\.id)
  }

  private func position(_ key: String) -> Position? {
    replica[Card.self, key]?.position
  }

  @Test func positionIsMadeInSave() throws {
    var drafts = ["x", "y"].map { key in
      var draft = replica.draft(of: Card.self, key: key)
      draft.title = key
      draft.edit {
        $0.move(by: \.position, between: position("a"), and: position("b"))
      }
      return draft
    }
    #expect(drafts[0].position == nil && drafts[0].hasChanges)
    // A save that makes positions in the same gap, before the commit.
    try replica.save { transaction in
      transaction.move(["c"], by: \Card.position, between: "a", and: "b")
    }
    let context = EditingContext(replica)
    for i in drafts.indices { try context.commit(&drafts[i]) }
    #expect(order.first == "a" && order.last == "b" && order.count == 5)
    #expect(Set(replica.records(of: Card.self).map(\.position)).count == 5)
    #expect(replica[Card.self, "x"]?.title == "x")
  }

  @Test func draftsOfOneSaveHaveDifferentPositions() throws {
    var drafts = ["x", "y", "z"].map { key in
      var draft = replica.draft(of: Card.self, key: key)
      draft.edit { $0.move(by: \.position, between: position("c"), and: nil) }
      return draft
    }
    let report = try EditingContext(replica).commit(&drafts)
    #expect(report.writtenFields.count == 3)
    #expect(order == ["a", "b", "c", "x", "y", "z"])
  }

  /// The verbs apply in order.
  @Test func lastVerbDecides() throws {
    let context = EditingContext(replica)
    let card = context.fetch(Card.self, key: "c")
    card.move(by: \.position, between: nil, and: position("a"))
    card.position = position("c")
    try context.save()
    #expect(order == ["a", "b", "c"])
    card.position = nil
    card.move(by: \.position, between: position("a"), and: position("b"))
    #expect(card.position == nil)
    try context.save()
    #expect(order == ["a", "c", "b"])
    #expect(context.fetch(Card.self, key: "c").position == position("c"))
    card.move(by: \.position, between: nil, and: position("a"))
    card.unset(\.position)
    try context.save()
    #expect(order == ["a", "b"])
  }

  @Test func discardedMovesMoveNothing() throws {
    let context = EditingContext(replica)
    context.fetch(Card.self, key: "c")
      .move(by: \.position, between: nil, and: position("a"))
    #expect(context.hasChanges)
    context.rollback()
    #expect(!context.hasChanges)
    var draft = replica.draft(of: Card.self, key: "c")
    draft.edit { card in
      card.move(by: \.position, between: nil, and: position("a"))
      card.delete()
    }
    try context.commit(&draft)
    #expect(order == ["a", "b"])
  }

  @Test func recreatedRecordIsMoved() throws {
    var draft = replica.draft(of: Card.self, key: "c")
    draft.edit { card in
      card.delete()
      card.move(by: \.position, between: nil, and: position("a"))
    }
    try EditingContext(replica).commit(&draft)
    #expect(order == ["c", "a", "b"])
  }

  /// If another field is in conflict, the policy decides about a move as about another
  /// write of an `lww` register.
  @Test(arguments: MergePolicy.named)
  func policyDecidesAsAboutWrites(_ policy: MergePolicy) throws {
    for isContested in [false, true] {
      var results: [[String]] = []
      for isMove in [true, false] {
        let (replica, other) = (Self.replica(1), Self.replica(2))
        try replica.save { transaction in
          var last: Position?
          for key in ["a", "b", "c"] {
            last = transaction.position(between: last, and: nil)
            transaction[Card.self, key].position = last
            transaction[Card.self, key].title = "old"
          }
        }
        func position(_ key: String) -> Position? {
          replica[Card.self, key]?.position
        }
        var target: Position?
        try other.save { transaction in
          target = transaction.position(between: nil, and: position("a"))
        }
        if let delta = replica.delta() { other.apply(delta) }
        var draft = replica.draft(of: Card.self, key: "c")
        draft.title = "mine"
        if isMove {
          draft.edit {
            $0.move(by: \.position, between: nil, and: position("a"))
          }
        } else {
          draft.position = target
        }
        try other.save { transaction in
          transaction.move(["c"], by: \Card.position, between: "a", and: "b")
          if isContested { transaction[Card.self, "c"].title = "theirs" }
        }
        if let delta = other.delta() { replica.apply(delta) }
        let context = EditingContext(replica, mergePolicy: policy)
        let report = try? context.commit(&draft)
        let order = replica.records(of: Card.self)
          .sorted { $0.position! < $1.position! }.map(\.id)
        #expect(
          replica.conflictedFields(of: Card.self).allSatisfy {
            $0.field.name != "position"
          })
        results.append(
          order + ["\(report?.conflicts.count ?? -1)"]
            + (report?.dropped.compactMap { $0.field?.name } ?? []))
      }
      #expect(results[0] == results[1])
      if !isContested { #expect(results[0].first == "c") }
    }
  }

  /// A form resolves or assigns every field as it reads.
  @Test func moveIsKeptByWhatFieldReads() throws {
    let key = FieldKey("position", .register)
    let verbs: [(inout RecordDraft<Card>) -> Void] = [
      { $0.resolve(\.position, with: $0.position) },
      { $0.resolve([key: $0.value(of: key)]) },
      { $0.position = $0.position },
    ]
    for verb in verbs {
      try replica.save {
        $0.move(["c"], by: \Card.position, between: "b", and: nil)
      }
      var draft = replica.draft(of: Card.self, key: "c")
      draft.edit {
        $0.move(by: \.position, between: nil, and: position("a"))
      }
      #expect(draft.value(of: key) == nil)
      verb(&draft)
      try EditingContext(replica).commit(&draft)
      #expect(order == ["c", "a", "b"])
    }
  }

  @Test func laterValueReplacesMove() throws {
    let key = FieldKey("position", .register)
    let old = position("c")
    let verbs: [(inout RecordDraft<Card>) -> Void] = [
      { $0.position = old }, { $0.resolve(\.position, with: old) },
      { $0.set(old?.fieldValue, for: key) }, { $0.unset(\.position) },
      { $0.set(nil, for: key) },
    ]
    for (i, verb) in verbs.enumerated() {
      for isDeleted in [false, true] {
        try replica.save { $0[Card.self, "c"].position = old }
        var draft = replica.draft(of: Card.self, key: "c")
        if isDeleted { draft.delete() }
        draft.edit {
          $0.move(by: \.position, between: nil, and: position("a"))
        }
        verb(&draft)
        draft.title = "new"
        try EditingContext(replica).commit(&draft)
        #expect(position("c") == (i < 3 ? old : nil), "\(i) \(isDeleted)")
      }
    }
  }

  /// A verb of a draft, most of which change a position.
  private enum Verb: CaseIterable {
    case move, assign, assignShown, assignNil, unset, resolve, resolveShown
    case setRaw, delete, edit
  }

  /// The content of a field after some verbs.
  private enum Outcome: Equatable { case base, moved, value(Position?) }

  @Test(arguments: [true, false])
  func anyOrderOfVerbsApplies(isContext: Bool) throws {
    var random = SeededRandom(seed: isContext ? 1 : 2)
    let key = FieldKey("position", .register)
    for round in 0..<2_000 {
      let replica = Self.replica(UInt64(round) + 1)
      try replica.save { transaction in
        for key in ["a", "b", "c", "d"] {
          transaction[Card.self, key].ensureExists()
        }
        transaction.rebalance(["a", "b", "c", "d"], by: \Card.position)
      }
      func position(_ key: String) -> Position? {
        replica[Card.self, key]?.position
      }
      let base = position("c")
      let values = [base, position("d")]
      let context = EditingContext(replica)
      var draft = replica.draft(of: Card.self, key: "c")
      func edit(_ body: (RecordEditor<Card>) -> Void) {
        if isContext {
          body(context.fetch(Card.self, key: "c"))
        } else {
          draft.edit(body)
        }
      }
      var (outcome, isDeleted, isEdited) = (Outcome.base, false, false)
      var shown: Position? {
        switch outcome {
        case .base: isDeleted ? nil : base
        case .moved: nil
        case .value(let value): value
        }
      }
      var verbs: [Verb] = []
      for _ in 0..<(1 + random.number(below: 6)) {
        let (verb, value) = (random.pick(Verb.allCases), random.pick(values))
        verbs.append(verb)
        switch verb {
        case .move:
          edit {
            $0.move(by: \.position, between: position("a"), and: position("b"))
          }
          outcome = .moved
        case .assign:
          edit { $0.position = value }
          let isBase = value == base && !isDeleted
          outcome = isBase && outcome != .value(base) ? .base : .value(value)
        case .assignShown:
          let read = shown
          edit { $0.position = read }
          if isDeleted, outcome == .base { outcome = .value(nil) }
        case .assignNil:
          let isMoved = outcome == .moved
          edit { $0.position = nil }
          if !isMoved { outcome = .value(nil) }
        case .unset:
          edit { $0.unset(\.position) }
          outcome = .value(nil)
        case .resolve where !isContext:
          draft.resolve(\.position, with: value)
          outcome = .value(value)
        case .resolveShown where !isContext:
          let read = shown
          draft.resolve(\.position, with: draft.position)
          if outcome != .moved { outcome = .value(read) }
        case .setRaw:
          if isContext {
            context.set(value?.fieldValue, for: key, in: draft.id)
          } else {
            draft.set(value?.fieldValue, for: key)
          }
          outcome = .value(value)
        case .delete:
          edit { $0.delete() }
          (outcome, isDeleted, isEdited) = (.base, true, false)
        case .edit, .resolve, .resolveShown:
          edit { $0.title = "\(round)" }
          isEdited = true
        }
      }
      if isContext { try context.save() } else { try context.commit(&draft) }
      let isGone = isDeleted && !isEdited && outcome == .base
      #expect(replica.exists(draft.id) != isGone, "\(verbs)")
      switch outcome {
      case .base: #expect(position("c") == (isDeleted ? nil : base), "\(verbs)")
      case .value(let value): #expect(position("c") == value, "\(verbs)")
      case .moved:
        let place = try #require(position("c"), "\(verbs)")
        #expect(position("a")! < place && place < position("b")!, "\(verbs)")
      }
    }
  }

  /// An overwriting policy writes what the context shows.
  @Test func overwritingPolicyWritesLaterValue() throws {
    let old = position("c")
    let context = EditingContext(replica, mergePolicy: .overwrite)
    let card = context.fetch(Card.self, key: "c")
    card.title = "mine"
    card.move(by: \.position, between: nil, and: position("a"))
    card.position = old
    try replica.save { transaction in
      transaction[Card.self, "c"].title = "theirs"
      transaction.move(["c"], by: \Card.position, between: "a", and: "b")
    }
    try context.save()
    #expect(position("c") == old && replica[Card.self, "c"]?.title == "mine")
  }

  /// The value of a dropped move is unset, because its position was never made.
  @Test func droppedMoveIsReported() throws {
    for key in ["c", "new"] {
      var draft = replica.draft(of: Card.self, key: key)
      draft.title = "mine"
      draft.edit {
        $0.move(by: \.position, between: nil, and: position("a"))
      }
      try replica.save { $0[Card.self, key].title = "theirs" }
      let context = EditingContext(replica, mergePolicy: .rollback)
      let report = try context.commit(&draft)
      let move = report.dropped.first { $0.field?.name == "position" }
      guard case .value(let dropped, _)? = move?.content else {
        Issue.record("the move of \(key) is not reported")
        continue
      }
      #expect(dropped.value == nil)
    }
  }

  /// A position that is too long keeps only its own record back.
  @Test func longPositionRefusesItsRecord() throws {
    var (left, right) = (position("a"), position("b"))
    for i in 0..<1_000 {
      let context = EditingContext(replica)
      context.fetch(Card.self, key: "x\(i)")
        .move(by: \.position, between: left, and: right)
      context.fetch(Card.self, key: "a").title = "title \(i)"
      let report = try context.save()
      #expect(replica[Card.self, "a"]?.title == "title \(i)")
      if let failure = report.failedRecords.first {
        #expect(failure.key.key == "x\(i)")
        #expect(failure.value == .positionTooLong && context.hasChanges)
        #expect(position("x\(i)") == nil)
        return
      }
      if i % 2 == 0 {
        left = position("x\(i)")
      } else {
        right = position("x\(i)")
      }
    }
    Issue.record("no position is too long")
  }

  @Test func droppedMoveIsReportedOnce() throws {
    for isMove in [true, false] {
      let (a, b) = (position("a"), position("b"))
      var draft = replica.draft(of: Card.self, key: "c")
      draft.edit { card in
        if isMove {
          card.move(by: \.position, between: nil, and: a)
        } else {
          card.position = a
        }
        card.delete()
        if isMove {
          card.move(by: \.position, between: a, and: b)
        } else {
          card.position = b
        }
      }
      try replica.save { $0[Card.self, "c"].title = "other \(isMove)" }
      let report = try EditingContext(replica, mergePolicy: .serverWins)
        .commit(&draft)
      #expect(report.dropped.map { $0.field?.name } == [nil, "position"])
    }
  }

  /// The ninth position of a save has a longer number than the first, so the first
  /// eight would fit.
  @Test func longMovesFailAlone() throws {
    guard case .bytes(var bytes)? = position("a")?.fieldValue else { return }
    // Levels of the device itself, below each other.
    while bytes.count < 1_013 { bytes += [0, 0x81, 0x81] }
    bytes += [0, 0x90, 0x10, 0x81]
    while bytes.count <= 1_015 { bytes += [0, 0x81, 0x81] }
    let left = try #require(Position(fieldValue: .bytes(bytes)))
    let right = try #require(
      Position(fieldValue: .bytes(bytes + [0, 0x90, 0x7f, 0x81])))
    for count in 1...12 {
      var drafts = (0..<count).map { number in
        var draft = replica.draft(of: Card.self, key: "\(number)")
        draft.edit { $0.move(by: \.position, between: left, and: right) }
        return draft
      }
      drafts.append(replica.draft(of: Card.self, key: "title"))
      drafts[count].title = "\(count)"
      let report = try EditingContext(replica).commit(&drafts)
      #expect(replica[Card.self, "title"]?.title == "\(count)")
      #expect(report.failedRecords.count == count)
    }
  }
}
