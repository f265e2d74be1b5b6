// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinComparison

extension Replay {
  func save(_ line: inout ScriptLine) throws(ScriptError) {
    let replica = try device(&line)
    let rows = line.has("records") ? try rows(&line) : [try verbs(&line)]
    attempt(on: replica) { transaction in
      rows.forEach { $0.apply(to: transaction) }
    }
  }

  /// Undoes the last save that can be undone, or redoes it.
  func undo(
    _ line: inout ScriptLine, again: Bool
  ) throws(ScriptError) {
    let replica = try device(&line)
    attempt { () throws(SaveError) in
      switch again ? try replica.redo() : try replica.undo() {
      case .done(let report):
        if !report.unrevertedFields.isEmpty {
          print(ReplayOutput.line(for: report.unrevertedFields))
        }
        return report
      case .prevented(let fields): print(ReplayOutput.line(for: fields))
      case .nothing: print(ReplayOutput.lineForNothing(toRedo: again))
      }
      return SaveReport()
    }
  }

  /// The verbs on each record of the list `records`.
  func rows(_ line: inout ScriptLine) throws(ScriptError) -> [ScriptVerbs] {
    guard case .array(let parts)? = line.take("records") else {
      throw line.error("\"records\" must be a list of objects")
    }
    var rows: [ScriptVerbs] = []
    for part in parts {
      var part = try ScriptLine(part, number: line.number, of: "a record")
      rows.append(try verbs(&part))
      try part.finish()
    }
    return rows
  }

  func verbs(
    _ line: inout ScriptLine
  ) throws(ScriptError) -> ScriptVerbs {
    let id = try schema.record(try line.text("record"), in: line)
    return try ScriptVerbs(&line, on: id, schema)
  }

  func delete(_ line: inout ScriptLine) throws(ScriptError) {
    if line.has("context") {
      let target = try context(&line)
      return target.context.delete(target.id)
    }
    let replica = try device(&line)
    let id = try schema.record(try line.text("record"), in: line)
    attempt(on: replica) { $0.delete(id) }
  }

  func undelete(_ line: inout ScriptLine) throws(ScriptError) {
    let replica = try device(&line)
    let id = try schema.record(try line.text("record"), in: line)
    attempt(on: replica) { $0.undelete(id) }
  }

  func purge(_ line: inout ScriptLine) throws(ScriptError) {
    let replica = try device(&line)
    attempt { () throws(SaveError) in
      _ = try replica.purgeDeletedRecords()
      return SaveReport()
    }
  }

  func retire(_ line: inout ScriptLine) throws(ScriptError) {
    let replica = try device(&line)
    let retired = try devices.replica(try line.text("device"), in: line)
    attempt { () throws(SaveError) in try replica.retire(retired.device) }
  }
}
