// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies

extension Replay {
  func context(
    _ line: inout ScriptLine
  ) throws(ScriptError) -> ScriptContext {
    let name = try line.text("context")
    guard let context = contexts[name] else {
      throw line.error("no context is named \"\(name)\"; fetch it first")
    }
    devices.set(context.device, time: try line.time())
    return context
  }

  mutating func fetch(
    _ line: inout ScriptLine
  ) throws(ScriptError) {
    let device = try line.text("on")
    let replica = try devices.replica(device, in: line)
    devices.set(device, time: try line.time())
    let id = try schema.record(try line.text("record"), in: line)
    let policy = try line.text("policy")
    guard let policy = MergePolicy(named: policy) else {
      let names = MergePolicy.named.map(\.name).joined(separator: ", ")
      throw line.error(
        "unknown merge policy \"\(policy)\"; use one of \(names)")
    }
    let context = EditingContext(replica, mergePolicy: policy)
    context.fetch(id)
    contexts[try line.text("context")] = ScriptContext(
      device: device, id: id, context: context)
  }

  func edit(_ line: inout ScriptLine) throws(ScriptError) {
    let target = try context(&line)
    let verbs = try ScriptVerbs(&line, on: target.id, schema)
    for (key, edit) in verbs.edits {
      guard target.context.apply(edit, to: key, in: target.id) else {
        print(
          ReplayOutput.line(
            for: .counterOverflow(target.id, field: key.name)))
        continue
      }
    }
    verbs.place(in: target.context)
  }

  func commit(_ line: inout ScriptLine) throws(ScriptError) {
    var source = line
    let label = try source.text("context")
    let target = try context(&line)
    do {
      let report = try target.context.save(undoable: "")
      print(ReplayOutput.line(for: report, of: target.id, context: label))
      for error in report.failedRecords.values {
        print(ReplayOutput.line(for: error))
      }
    } catch {
      switch error {
      case .conflict(let conflict):
        print(ReplayOutput.line(for: conflict, context: label))
      case .save(let error):
        print(ReplayOutput.line(for: error))
      }
    }
  }

  func resolve(_ line: inout ScriptLine) throws(ScriptError) {
    let target = try context(&line)
    var values: [FieldKey: Value?] = [:]
    let verbs = try ScriptVerbs(&line, on: target.id, schema)
    if let (key, _) = verbs.moves.first {
      throw line.error(
        "\"\(key.name)\" cannot be resolved by a move; use \"set\"")
    }
    for (key, edit) in verbs.edits {
      guard case .write(let value) = edit else {
        throw line.error(
          "\"\(key.name)\" is a \(key.kind.rawValue), and only registers are "
            + "resolved; use \"set\" and \"clear\"")
      }
      values[key] = .some(value)
    }
    attempt { () throws(SaveError) in
      try target.context.resolve(target.id, values, undoable: "")
    }
  }
}
