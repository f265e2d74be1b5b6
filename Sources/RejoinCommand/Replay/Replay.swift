// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies

/// Runs a script of device actions and prints the records of each device.
struct Replay {
  let schema: ScriptSchema
  let devices: ScriptDevices
  let showsBytes: Bool
  let print: (String) -> Void
  /// The kept deltas, by name, where `.some(nil)` is a delta without changes.
  var deltas: [String: Delta?] = [:]
  /// The encoded states kept, by name.
  var backups: [String: (state: [UInt8], history: UndoHistory)] = [:]
  /// The editing contexts, by name.
  var contexts: [String: ScriptContext] = [:]

  struct ScriptContext {
    let device: String
    let id: RecordID
    let context: EditingContext
  }

  /// Runs a whole script.
  ///
  /// - Parameters:
  ///   - text: The script.
  ///   - showsBytes: Whether `show` prints a digest of a device's canonical
  ///     bytes.
  ///   - stores: The stores of the replicas, or `nil` if they are only in memory.
  ///   - print: Called with every line of output.
  /// - Throws: ``ScriptError`` for the first line with an error. The output of
  ///   the lines before it is already printed.
  static func run(
    _ text: String, showsBytes: Bool = false, in stores: ScriptStores? = nil,
    print: @escaping (String) -> Void
  ) throws(ScriptError) {
    var replay: Replay?
    // Held back until the whole line is known to be right: one with an error
    // prints nothing.
    var printed: [String] = []
    // Split by bytes, as "\r\n" is a single `Character`, different from "\n".
    let lines = text.utf8.split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (i, line) in lines.enumerated() {
      let text = Substring(line)
      let content = text.unicodeScalars.drop {
        " \t\r".unicodeScalars.contains($0)
      }
      if content.isEmpty || content.first == "#" { continue }
      let line = try ScriptLine(String(text), number: i + 1)
      if replay == nil {
        replay = Replay(try ScriptSchema(line), showsBytes, stores) {
          printed.append($0)
        }
      } else {
        try replay?.execute(line)
        printed.forEach(print)
        printed = []
      }
    }
    if replay == nil {
      throw ScriptError(
        line: 1,
        reason: "a script begins with its schema; write {\"entities\": {…}}")
    }
  }

  private init(
    _ schema: ScriptSchema, _ showsBytes: Bool, _ stores: ScriptStores?,
    _ print: @escaping (String) -> Void
  ) {
    self.schema = schema
    self.showsBytes = showsBytes
    self.print = print
    devices = ScriptDevices(schema.schema, in: stores)
  }

  private mutating func execute(_ line: ScriptLine) throws(ScriptError) {
    var line = line
    switch try line.text("do") {
    case "save": try save(&line)
    case "delete": try delete(&line)
    case "sync": try sync(&line)
    case "merge": try merge(&line)
    case "delta": try delta(&line)
    case "apply": try apply(&line)
    case "split": try split(&line)
    case "backup": try backup(&line)
    case "restore": try restore(&line)
    case "crash": try crash(&line)
    case "fork": try fork(&line)
    case "purge": try purge(&line)
    case "fold": try device(&line).foldLedgers()
    case "retire": try retire(&line)
    case "undelete": try undelete(&line)
    case "undo": try undo(&line, again: false)
    case "redo": try undo(&line, again: true)
    case "import": try importRows(&line)
    case "pull": try pull(&line)
    case "token": try token(&line)
    case "fetch": try fetch(&line)
    case "edit": try edit(&line)
    case "refresh": try context(&line).context.refresh()
    case "commit": try commit(&line)
    case "resolve": try resolve(&line)
    case "show": try show(&line)
    case let verb:
      throw line.error(
        "unknown step \"\(verb)\"; `rejoin replay --help` lists the steps")
    }
    try line.finish()
    try devices.write(after: line)
  }

  /// The device that a line names, with its wall clock set to the line's time.
  func device(
    _ line: inout ScriptLine, _ key: SchemaName = "on"
  ) throws(ScriptError) -> Replica {
    try device(named: try line.text(key), &line)
  }

  func device(
    named name: String, _ line: inout ScriptLine
  ) throws(ScriptError) -> Replica {
    let replica = try devices.replica(name, in: line)
    devices.set(name, time: try line.time())
    return replica
  }

  func attempt<Report>(_ save: () throws(SaveError) -> Report) {
    do {
      _ = try save()
    } catch {
      print(ReplayOutput.line(for: error))
    }
  }

  /// Makes a save that can be undone.
  func attempt(on replica: Replica, _ body: (Transaction) -> Void) {
    attempt { () throws(SaveError) in
      try replica.save(undoable: "", body)
    }
  }

  private func show(_ line: inout ScriptLine) throws(ScriptError) {
    let replica = try device(&line)
    print(
      ReplayOutput.line(
        for: replica, names: devices.names, showsBytes: showsBytes))
  }
}
