// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The rows of an undo history, one for each save.
///
/// In each stack, the numbers of the rows are in the order of the saves. The
/// body of a row, which contains the changes of the save, is read when the user
/// undoes or redoes a save.
struct UndoRows {
  /// The maximum number of bytes in the bodies and names of a scope's rows:
  /// 4 MiB.
  ///
  /// The next undo and the next redo are kept regardless of their sizes.
  static let byteLimit = 4 << 20

  private let scope: Int64
  private let byteLimit: Int
  private var rows: [UndoRow] = []

  /// Creates the rows of a new scope.
  init(scope: Int64, byteLimit: Int = Self.byteLimit) {
    (self.scope, self.byteLimit) = (scope, byteLimit)
  }

  /// Reads the rows of a scope without their bodies.
  init(
    scope: Int64, on connection: any SQLConnection,
    byteLimit: Int = Self.byteLimit
  ) throws {
    self.init(scope: scope, byteLimit: byteLimit)
    var rows: [UndoRow] = []
    try connection.run(
      "SELECT \(UndoRow.columns), length(body) FROM rejoin_undo "
        + "WHERE scope = $1 ORDER BY step", [.integer(scope)]
    ) { row in
      rows.append(UndoRow(row, byteCount: Int(row.integer(UndoRow.count))))
    }
    self.rows = rows
  }

  /// The history in the rows, whose steps are not loaded.
  ///
  /// If a row cannot be read, the history is empty.
  var history: UndoHistory {
    let dots = Set(rows.compactMap(\.save?.dot))
    guard dots.count == rows.count else { return UndoHistory() }
    func saves(undone: Bool) -> [(Dot, String?)] {
      rows.filter { $0.isUndone == undone }.compactMap { row in
        row.save.map { ($0.dot, $0.name) }
      }
    }
    return UndoHistory(
      storedDone: saves(undone: false), undone: saves(undone: true))
  }

  /// Returns whether a history has lost saves because of damaged rows.
  func isAhead(of history: UndoHistory) -> Bool {
    rows.count != history.entries.done.count + history.entries.undone.count
  }

  /// Reads the steps of the rows.
  ///
  /// It omits steps that are damaged or of another version.
  func steps(on connection: any SQLConnection) throws -> [Dot: UndoStep] {
    let known = Dictionary(
      rows.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
    var steps: [Dot: UndoStep] = [:]
    try UndoRows.read(scope, on: connection) { row, body, isIntact in
      guard isIntact, row == known[row.number], let save = row.save else {
        return
      }
      steps[save.dot] = try? UndoStep(
        decoding: body, dot: save.dot, name: save.name)
    }
    return steps
  }

  /// Returns the numbers of a scope's damaged rows.
  ///
  /// A row of another version is not damaged.
  static func damage(
    in scope: Int64, on connection: any SQLConnection
  ) throws -> [Int64] {
    var damaged: [Int64] = []
    try read(scope, on: connection) { row, body, isIntact in
      if !isIntact || row.isDamaged(body) { damaged.append(row.number) }
    }
    return damaged
  }

  /// Reads the rows of a scope with their bodies.
  ///
  /// - Parameter body: A closure that receives a row, its body, and whether they
  ///   have their check.
  private static func read(
    _ scope: Int64, on connection: any SQLConnection,
    _ body: (UndoRow, _ content: [UInt8], _ isIntact: Bool) -> Void
  ) throws {
    try connection.run(
      "SELECT \(UndoRow.columns), row_check, body FROM rejoin_undo "
        + "WHERE scope = $1 ORDER BY step", [.integer(scope)]
    ) { row in
      let content = row.bytes(UndoRow.count + 1)
      let read = UndoRow(row, byteCount: content.count)
      let check = read.check(of: content, in: scope)
      body(read, content, check == row.integer(UndoRow.count))
    }
  }
}

// Writing.
extension UndoRows {
  /// Updates the rows to the saves of a history, and removes the earliest saves
  /// of the history if they do not fit.
  ///
  /// Rows that have their step exactly as it is stay unchanged.
  mutating func write(
    _ history: inout UndoHistory, on connection: any SQLConnection
  ) throws {
    var new = [false, true].map { contents(of: history, undone: $0) }
    for (isUndone, count) in excess(new) {
      for _ in 0..<count { history.removeFirst(undone: isUndone) }
      new[isUndone ? 1 : 0].removeFirst(count)
    }
    try delete(except: new.joined(), on: connection)
    rows = []
    for content in new.joined() {
      rows.append(try writeRow(content, on: connection))
    }
    history.recordStored()
  }

  /// A row, and its body if it must be written.
  private struct Content {
    var row: UndoRow
    var body: [UInt8]?
  }

  private func contents(
    of history: UndoHistory, undone isUndone: Bool
  ) -> [Content] {
    let known = Dictionary(
      rows.filter { $0.isUndone == isUndone }
        .compactMap { row in row.save.map { ($0.dot, row) } },
      uniquingKeysWith: { $1 })
    var contents: [Content] = []
    var inserts = false
    let entries = isUndone ? history.entries.undone : history.entries.done
    for entry in entries {
      // After a new row, insert all later saves again to keep the order.
      let row = inserts ? nil : known[entry.dot]
      inserts = row == nil
      if let row, entry.isStored {
        contents.append(Content(row: row))
      } else if let step = entry.step {
        let body = step.encoded()
        let new = UndoRow(
          number: row?.number ?? 0,
          save: .init(dot: entry.dot, name: entry.name), isUndone: isUndone,
          byteCount: body.count)
        contents.append(Content(row: new, body: body))
      }
    }
    return contents
  }

  /// Returns the number of saves to remove from the start of each stack.
  private func excess(_ contents: [[Content]]) -> [(isUndone: Bool, Int)] {
    var total = contents.joined().reduce(0) { $0 + $1.row.size }
    return zip([false, true], contents).map { isUndone, contents in
      var count = 0
      for content in contents.dropLast() where total > byteLimit {
        total -= content.row.size
        count += 1
      }
      return (isUndone, count)
    }
  }

  private func delete(
    except contents: some Sequence<Content>, on connection: any SQLConnection
  ) throws {
    let kept = Set(contents.map(\.row.number))
    for row in rows where !kept.contains(row.number) {
      try connection.run(
        "DELETE FROM rejoin_undo WHERE step = $1", .integer(row.number))
    }
  }

  /// Writes a row, unless it has its step already.
  private func writeRow(
    _ content: Content, on connection: any SQLConnection
  ) throws -> UndoRow {
    var row = content.row
    guard let body = content.body, let save = row.save else { return row }
    func check() -> SQLValue { .integer(row.check(of: body, in: scope)) }
    if row.number != 0 {
      try connection.run(
        "UPDATE rejoin_undo SET name = $1, row_check = $2, body = $3 "
          + "WHERE step = $4",
        row.name, check(), .bytes(body), .integer(row.number))
    } else {
      // The number is a part of the check, because it stands for the order.
      row.number =
        try connection.integer(
          "INSERT INTO rejoin_undo "
            + "(scope, undone, name, device, n, row_check, body) "
            + "VALUES ($1, $2, $3, $4, $5, 0, $6) RETURNING step",
          .integer(scope), .integer(row.isUndone ? 1 : 0), row.name,
          .bytes(Array(save.dot.device.bytes)), .bits(save.dot.sequence),
          .bytes(body)) ?? 0
      try connection.run(
        "UPDATE rejoin_undo SET row_check = $1 WHERE step = $2", check(),
        .integer(row.number))
    }
    return row
  }
}

/// A row of `rejoin_undo`, without its body.
struct UndoRow: Equatable {
  /// The save of a row.
  struct Save: Equatable {
    let dot: Dot
    /// The name for the menu, or `nil` without one.
    let name: String?
  }

  /// The number of the row, or zero before the row is inserted.
  var number: Int64
  /// The save, or `nil` if the columns do not contain one.
  let save: Save?
  let isUndone: Bool
  /// The number of bytes in the body.
  let byteCount: Int

  init(number: Int64, save: Save, isUndone: Bool, byteCount: Int) {
    (self.number, self.save) = (number, save)
    (self.isUndone, self.byteCount) = (isUndone, byteCount)
  }

  /// The columns that ``init(_:byteCount:)`` reads, and their number.
  static let (columns, count) = ("step, undone, name, device, n", 5)

  /// Creates the row that a query read.
  init(_ row: any SQLRow, byteCount: Int) {
    number = row.integer(0)
    isUndone = row.integer(1) != 0
    save = UndoRow.save(row)
    self.byteCount = byteCount
  }

  private static func save(_ row: any SQLRow) -> Save? {
    let n = row.bits(4)
    guard let device = row.withBytes(3, { DeviceID(raw: $0) }), n > 0 else {
      return nil
    }
    let dot = Dot(device, n)
    if case .null = row.value(2) { return Save(dot: dot, name: nil) }
    guard let name = String(validating: row.bytes(2), as: UTF8.self) else {
      return nil
    }
    return Save(dot: dot, name: name)
  }

  /// The name in a column.
  var name: SQLValue {
    save?.name.map { .bytes(Array($0.utf8)) } ?? .null
  }

  /// The number of bytes that count toward the limit.
  var size: Int { byteCount + (save?.name?.utf8.count ?? 0) }

  /// The check of all columns and the body.
  func check(of body: [UInt8], in scope: Int64) -> Int64 {
    var check = RowCheck(
      UInt64(bitPattern: scope), UInt64(bitPattern: number), isUndone ? 1 : 0,
      save?.dot.device.high ?? 0, save?.dot.device.low ?? 0,
      save?.dot.sequence ?? 0, save?.name == nil ? 0 : 1)
    check.add(Array((save?.name ?? "").utf8))
    check.add(body)
    return check.value
  }

  /// Returns whether a row of this version cannot be decoded.
  func isDamaged(_ body: [UInt8]) -> Bool {
    guard let save else { return true }
    do throws(WireError) {
      _ = try UndoStep(decoding: body, dot: save.dot, name: save.name)
    } catch {
      return ![.newerVersion, .olderVersion].contains(error.code)
    }
    return false
  }
}
