//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin
import RejoinComparison

extension Replay {
  func save(_ line: inout ScriptLine) throws(ScriptError) {
    let replica = try device(&line)
    var all: [ScriptVerbs] = []
    if let json = line.take("records") {
      guard case .array(let parts) = json else {
        throw line.error("\"records\" must be a list of objects")
      }
      for part in parts {
        var part = try ScriptLine(part, number: line.number, of: "a record")
        all.append(try verbs(&part))
        try part.finish()
      }
    } else {
      all = [try verbs(&line)]
    }
    attempt { () throws(SaveError) in
      try replica.save { edit in
        for verbs in all {
          for (key, change) in verbs.edits {
            edit.apply(change, to: key, of: verbs.id)
          }
        }
      }
    }
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
    attempt { () throws(SaveError) in try replica.save { $0.delete(id) } }
  }

  func undelete(_ line: inout ScriptLine) throws(ScriptError) {
    let replica = try device(&line)
    let id = try schema.record(try line.text("record"), in: line)
    attempt { () throws(SaveError) in try replica.save { $0.restore(id) } }
  }

  func purge(_ line: inout ScriptLine) throws(ScriptError) {
    let replica = try device(&line)
    attempt { () throws(SaveError) in try replica.purge() }
  }

  func retire(_ line: inout ScriptLine) throws(ScriptError) {
    let replica = try device(&line)
    let retired = try devices.replica(try line.text("device"), in: line)
    attempt { () throws(SaveError) in try replica.retire(retired.device) }
  }
}
