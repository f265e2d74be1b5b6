// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinStore

/// Opens a scope on a connection that counts.
func open(
  _ connection: CountingConnection,
  token: any TokenStorage = TestTokenStorage(),
  as device: UInt64 = 1
) throws -> StoredScope {
  try StoredScope(
    "main", on: connection, schema: [Note.self],
    wallClock: ManualClock().wallClock, token: token,
    makeDeviceID: { DeviceID(device) })
}

extension CountingConnection {
  /// The statements that read the bodies of undo rows.
  var bodyReads: [String] {
    statements.filter {
      $0.hasPrefix("SELECT") && $0.contains("rejoin_undo")
        && $0.split(separator: "length(body)").joined().contains("body")
    }
  }
}

extension StoredScope {
  /// Saves a title, which the user can undo.
  func rename(_ title: String, key: String = "1") throws {
    try update { replica in
      try replica.save(undoable: String(title.prefix(8))) {
        $0[Note.self, key].title = title
      }
    }
  }

  @discardableResult
  func undo() throws -> UndoResult { try update { try $0.undo() } }

  @discardableResult
  func redo() throws -> UndoResult { try update { try $0.redo() } }

  var undoName: String? { replica.history.undoName }
  var redoName: String? { replica.history.redoName }
}

/// A step of a random history of a note.
enum UndoMove: CaseIterable {
  case title, tags, views, log, both, deletion, plain, undo, redo, discard

  func make(on replica: Replica, _ random: inout SeededRandom) throws {
    let (text, number) = ("\(random.number(below: 5))", random.number(below: 9))
    func save(_ body: (RecordEditor<Note>) -> Void) throws {
      try replica.save(undoable: "\(self) \(text)") {
        body($0[Note.self, "\(number % 2)"])
      }
    }
    switch self {
    case .title: try save { $0.title = text }
    case .tags where number < 6: try save { $0.tags.insert(text) }
    case .tags: try save { $0.tags.remove(text) }
    case .views where number < 6: try save { $0.views.increment(by: 2) }
    case .views: try save { $0.views.reset() }
    case .log: try save { $0.log.append(Int64(number), memo: .string(text)) }
    case .both:
      try save { note in
        note.title = text
        note.tags.insert("both")
        note.views.increment(by: 1)
      }
    case .deletion:
      try replica.save(undoable: "Delete") {
        $0.delete(RecordID("Note", "\(number % 2)"))
      }
    case .plain:
      try replica.save { $0[Note.self, "\(number % 3)"].title = text }
    case .undo: try replica.undo()
    case .redo: try replica.redo()
    case .discard: replica.undoHistory.discardUndo()
    }
  }

  /// Half of the moves are undos and redos.
  static func random(_ random: inout SeededRandom) -> UndoMove {
    random.chance(percent: 50)
      ? random.pick([.undo, .undo, .redo]) : random.pick(Array(allCases))
  }
}
