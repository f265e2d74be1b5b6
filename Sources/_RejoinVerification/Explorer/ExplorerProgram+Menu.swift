// SPDX-License-Identifier: Apache-2.0
import Rejoin

// The programs cover every kind of field, deletions, and the re-creation of
// deleted records.
extension ExplorerProgram {
  static let a = RecordID("Note", "a")
  static let b = RecordID("Note", "b")
  static let name = FieldKey("name", .register)
  /// A quiet register.
  static let theme = FieldKey("theme", .register)
  static let count = FieldKey("count", .counter)
  static let tags = FieldKey("tags", .set)
  static let log = FieldKey("log", .ledger)

  init(
    _ name: String, _ fields: [FieldKey], deletion: DeletionRule = .updateWins,
    _ saves: [ScriptVerb]...
  ) {
    self.init(
      name,
      universe: Self.universe(of: fields, deletion),
      saves: saves)
  }

  /// Three records with registers, so that a transfer has a middle part.
  public static let transfers: ExplorerProgram = {
    let c = RecordID("Note", "c")
    return ExplorerProgram(
      "transfers", universe: universe(of: [name], .updateWins, [a, b, c]),
      saves: [
        [a[name, .int(1)], b[name, .int(1)], c[name, .int(1)]],
        [a[name, .int(2)], c[name, .int(2)]],
        [b[name, .int(3)], c[name, .int(3)]],
      ])
  }()

  /// Returns a universe with some fields, and with two records by default.
  private static func universe(
    of fields: [FieldKey], _ deletion: DeletionRule,
    _ records: [RecordID] = [a, b]
  ) -> ScriptUniverse {
    ScriptUniverse(
      schema: Schema([
        "Note": .init(
          fields: Set(fields), quietFields: Set(fields).intersection([theme]),
          deletion: deletion)
      ]), records: records, fields: fields)
  }

  /// Two records with registers.
  public static let registers = ExplorerProgram(
    "registers", [name],
    [a[name, .int(1)], b[name, .int(1)]],
    [a[name, .int(2)], b[name, .int(2)]],
    [a[name, .int(3)], b[name, nil]])

  /// Returns a program with a deletion and concurrent updates.
  public static func deletion(_ rule: DeletionRule) -> ExplorerProgram {
    ExplorerProgram(
      "deletion, \(rule.rawValue)", [name], deletion: rule,
      [a[name, .int(1)], b[name, .int(1)]],
      [.delete(a), .touch(b)],
      [a[name, .int(2)]])
  }

  /// Returns a program that edits, touches and deletes records several times.
  public static func existence(_ rule: DeletionRule) -> ExplorerProgram {
    ExplorerProgram(
      "existence, \(rule.rawValue)", [name, count], deletion: rule,
      [a[name, .int(1)], a.adding(1, to: count), .touch(b)],
      [.delete(a), .delete(b)], [a.adding(2, to: count), .delete(b)],
      [.touch(a), .delete(b)])
  }

  /// Returns a program that deletes a record with every kind of field and
  /// creates it again.
  public static func creation(_ rule: DeletionRule) -> ExplorerProgram {
    ExplorerProgram(
      "re-creation, \(rule.rawValue)", [name, theme, count, tags, log],
      deletion: rule,
      [
        a[name, .int(1)], a[theme, .int(1)], a.adding(2, to: count),
        a.inserting(["x"], into: tags), a.appending(5, to: log), .touch(b),
      ],
      [.delete(a)],
      [a.adding(1, to: count), b.adding(1, to: count)])
  }

  /// Counters that are reset.
  public static let counters = ExplorerProgram(
    "counters", [count],
    [a.adding(2, to: count), b.adding(1, to: count)],
    [a.resetting(count, to: 5)],
    [a.adding(-1, to: count), b.resetting(count, to: 0)])

  /// Sets whose elements are removed.
  public static let sets = ExplorerProgram(
    "sets", [tags],
    [a.inserting(["x"], into: tags), b.inserting(["x"], into: tags)],
    [a.removing(["x"], from: tags)],
    [a.inserting(["x", "y"], into: tags), b.removing(["x"], from: tags)])

  /// Quiet registers, and ledgers that are canceled.
  public static let ledgers = ExplorerProgram(
    "quiet registers and ledgers", [theme, log],
    [a[theme, .int(1)], a.appending(5, to: log), b[theme, .int(1)]],
    [a[theme, .int(2)], .edit(a, log, .append(.cancelling))],
    [a[theme, nil], a.appending(-1, to: log), b.appending(3, to: log)])

  /// Records that two devices move to one place, and one of whose neighbors is deleted.
  public static let moves = ExplorerProgram(
    "moves", about: [theme],
    .verbs([
      .move(a, theme, after: nil, before: nil),
      .move(b, theme, after: a, before: nil),
    ]),
    .verbs([.move(b, theme, after: nil, before: a)]),
    .verbs([.move(a, theme, after: b, before: nil), .delete(b)]),
    .undo(again: false))

  /// Returns a program that deletes a record, purges it, and meanwhile brings it
  /// back in some ways.
  public static func purges(
    _ rule: DeletionRule, concurrentWith name: String, _ others: Save...
  ) -> ExplorerProgram {
    var program = ExplorerProgram(
      "purges beside \(name), \(rule.rawValue)",
      universe: universe(of: [Self.name, count], rule),
      saves: [.verbs([.delete(a)]), .purge, .purge] + others)
    program.introduction = [
      [a[Self.name, .int(1)], a.adding(1, to: count)],
      [a.adding(2, to: count), .touch(b)], [.touch(b)],
    ]
    return program
  }

  /// A device that is retired and returns.
  public static let retirement = ExplorerProgram(
    "retirement", about: [name],
    .verbs([a[name, .int(1)], b[name, .int(1)]]), .retire(0),
    .verbs([a[name, .int(2)]]), .verbs([.delete(a)]))

  /// Rows that two devices import, and other edits.
  public static let imports: ExplorerProgram = {
    let rows = [a[name, .int(7)], a.adding(3, to: count), b[name, .int(8)]]
    return ExplorerProgram(
      "imports", about: [name, count], .bringIn(rows), .bringIn(rows),
      .verbs([a[name, .int(1)], a.adding(1, to: count)]),
      .verbs([.delete(b)]))
  }()

  /// Saves that are undone and redone, and saves of other devices.
  public static let undoings = ExplorerProgram(
    "undoing", about: [name, count, tags, theme],
    .verbs([
      a[name, .int(1)], a.adding(2, to: count), a.inserting(["x"], into: tags),
      a[theme, .int(1)],
    ]),
    .verbs([
      a[name, .int(2)], a.resetting(count, to: 5),
      a.removing(["x"], from: tags), b[theme, .int(2)],
    ]),
    .verbs([
      a[name, .int(3)], a.adding(1, to: count),
      a.inserting(["x", "y"], into: tags), .delete(b),
    ]),
    .undo(again: false), .undo(again: false), .undo(again: true))

  /// Two devices that cancel a counter and a ledger, undo that and redo it.
  ///
  /// One of them resets, and the other creates the record again.
  public static let undoneResets = ExplorerProgram(
    "undone resets", about: [count, log],
    .verbs([a.adding(4, to: count), a.appending(5, to: log)]),
    .verbs([
      a.resetting(count, to: 0), .edit(a, log, .append(.cancelling)),
    ]),
    .verbs([.delete(a), a.adding(1, to: count)]),
    .undo(again: false), .undo(again: false), .undo(again: true))

  /// Returns a program that restores a deleted record or creates it again.
  public static func bringingBack(_ rule: DeletionRule) -> ExplorerProgram {
    ExplorerProgram(
      "bringing back, \(rule.rawValue)", about: [name, count], deletion: rule,
      .verbs([a[name, .int(1)], a.adding(1, to: count), .touch(b)]),
      .verbs([.delete(a)]), .verbs([.undelete(a)]),
      .verbs([a.adding(2, to: count)]))
  }

  private init(
    _ name: String, about fields: [FieldKey],
    deletion: DeletionRule = .updateWins, _ saves: Save...
  ) {
    self.init(
      name,
      universe: Self.universe(of: fields, deletion),
      saves: saves)
  }

  /// The basic programs, which the tiers vary.
  package static let menu: [ExplorerProgram] = [
    registers, deletion(.updateWins), deletion(.deleteWins),
    creation(.updateWins), creation(.deleteWins), counters, sets, ledgers,
  ]
}

extension RecordID {
  subscript(key: FieldKey, value: Value?) -> ScriptVerb {
    .edit(self, key, .write(value))
  }

  func adding(_ amount: Int64, to key: FieldKey) -> ScriptVerb {
    .edit(self, key, .count(CounterEdit(by: amount)))
  }

  func resetting(_ key: FieldKey, to value: Int64) -> ScriptVerb {
    .edit(self, key, .count(CounterEdit(by: value, isReset: true)))
  }

  func inserting(
    _ elements: [String], into key: FieldKey
  ) -> ScriptVerb {
    .edit(
      self, key, .members(SetEdit(inserting: elements.map(Value.string))))
  }

  func removing(
    _ elements: [String], from key: FieldKey
  ) -> ScriptVerb {
    let elements = elements.map(Value.string)
    return .edit(
      self, key, .members(SetEdit(inserting: [], removing: elements)))
  }

  func appending(_ amount: Int64, to key: FieldKey) -> ScriptVerb {
    var edit = LedgerEdit()
    edit.append(amount, memo: nil)
    return .edit(self, key, .append(edit))
  }
}
