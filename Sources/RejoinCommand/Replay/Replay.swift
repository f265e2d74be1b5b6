//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin
import RejoinPolicies

/// Carries out a script of what devices did and prints what each of them sees.
struct Replay {
  private let schema: ScriptSchema
  private let devices: ScriptDevices
  private let print: (String) -> Void
  private var deltas: [String: Delta?] = [:]
  private var backups: [String: StoredReplica] = [:]
  private var contexts: [String: ScriptContext] = [:]

  private struct ScriptContext {
    let device: String
    let id: RecordID
    let context: EditingContext
  }

  /// Runs a whole script.
  ///
  /// - Parameters:
  ///   - text: The script.
  ///   - print: Called with every line of output.
  /// - Throws: ``ScriptError`` at the first line that cannot be carried out; what
  ///   the lines before it printed stands.
  static func run(
    _ text: String, print: @escaping (String) -> Void
  ) throws(ScriptError) {
    var replay: Replay?
    let lines = text.split(
      separator: "\n", omittingEmptySubsequences: false)
    for (i, text) in lines.enumerated() {
      let content = text.drop { $0 == " " || $0 == "\t" || $0 == "\r" }
      if content.isEmpty || content.first == "#" { continue }
      let line = try ScriptLine(String(text), number: i + 1)
      if replay == nil {
        replay = Replay(try ScriptSchema(line), print)
      } else {
        try replay?.carryOut(line)
      }
    }
    if replay == nil {
      throw ScriptError(
        line: 1, reason: "a script begins with its schema: {\"entities\": {…}}")
    }
  }

  private init(_ schema: ScriptSchema, _ print: @escaping (String) -> Void) {
    self.schema = schema
    self.print = print
    devices = ScriptDevices(schema.schema)
  }

  private mutating func carryOut(_ line: ScriptLine) throws(ScriptError) {
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
    case "fork": try fork(&line)
    case "purge": try purge(&line)
    case "fold": try device(&line).fold()
    case "retire": try retire(&line)
    case "fetch": try fetch(&line)
    case "edit": try edit(&line)
    case "refresh": try context(&line).context.refresh()
    case "commit": try commit(&line)
    case "resolve": try resolve(&line)
    case "show": try show(&line)
    case let verb:
      throw line.error("\"\(verb)\" is nothing that a script can do")
    }
    try line.finish()
  }

  /// The device that a line is about, its wall clock set.
  private func device(
    _ line: inout ScriptLine, _ key: Name = "on"
  ) throws(ScriptError) -> Replica {
    let name = try line.text(key)
    let replica = try devices.replica(name, in: line)
    devices.set(name, time: try line.time())
    return replica
  }

  private func attempt(_ save: () throws(SaveError) -> SaveReport) {
    do {
      _ = try save()
    } catch {
      print(ReplayOutput.line(for: error))
    }
  }
}

extension Replay {
  private func save(_ line: inout ScriptLine) throws(ScriptError) {
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

  private func verbs(
    _ line: inout ScriptLine
  ) throws(ScriptError) -> ScriptVerbs {
    let id = try schema.record(try line.text("record"), in: line)
    return try ScriptVerbs(&line, on: id, schema)
  }

  private func delete(_ line: inout ScriptLine) throws(ScriptError) {
    if line.has("context") {
      let target = try context(&line)
      return target.context.delete(target.id)
    }
    let replica = try device(&line)
    let id = try schema.record(try line.text("record"), in: line)
    attempt { () throws(SaveError) in try replica.save { $0.delete(id) } }
  }

  private func purge(_ line: inout ScriptLine) throws(ScriptError) {
    let replica = try device(&line)
    attempt { () throws(SaveError) in try replica.purge() }
  }

  private func retire(_ line: inout ScriptLine) throws(ScriptError) {
    let replica = try device(&line)
    let retired = try devices.replica(try line.text("device"), in: line)
    attempt { () throws(SaveError) in try replica.retire(retired.device) }
  }
}

extension Replay {
  private func sync(_ line: inout ScriptLine) throws(ScriptError) {
    let sender = try devices.replica(try line.text("from"), in: line)
    let receiver = try device(&line, "to")
    sender.acknowledge(receiver.clock, by: receiver.device)
    let delta = sender.delta(since: receiver.clock)
    receiver.acknowledge(sender.clock, by: sender.device)
    if let delta { print(receiver.apply(delta)) }
  }

  private func merge(_ line: inout ScriptLine) throws(ScriptError) {
    let sender = try devices.replica(try line.text("from"), in: line)
    let receiver = try device(&line, "to")
    print(receiver.merge(sender))
  }

  private mutating func delta(
    _ line: inout ScriptLine
  ) throws(ScriptError) {
    let replica = try device(&line)
    let name = try line.text("as")
    switch line.take("since") {
    case .null?:
      deltas[name] = .some(replica.delta())
    case .string(let other)?:
      let basis = try devices.replica(other, in: line)
      replica.acknowledge(basis.clock, by: basis.device)
      deltas[name] = .some(replica.delta(since: basis.clock))
    default:
      throw line.error("\"since\" names a device, or is null for nothing")
    }
  }

  private mutating func apply(
    _ line: inout ScriptLine
  ) throws(ScriptError) {
    let replica = try device(&line)
    if let delta = try kept(try line.text("delta"), in: line) {
      print(replica.apply(delta))
    }
  }

  private mutating func split(
    _ line: inout ScriptLine
  ) throws(ScriptError) {
    let delta = try kept(try line.text("delta"), in: line)
    let names = try line.texts("as")
    guard !names.isEmpty else { throw line.error("\"as\" names the parts") }
    let parts = delta?.split(into: names.count)
    for (i, name) in names.enumerated() { deltas[name] = .some(parts?[i]) }
  }

  private func kept(
    _ name: String, in line: ScriptLine
  ) throws(ScriptError) -> Delta? {
    guard let delta = deltas[name] else {
      throw line.error("no delta is kept as \"\(name)\"")
    }
    return delta
  }

  private func print(_ report: MergeReport) {
    for text in ReplayOutput.lines(for: report, names: devices.names) {
      print(text)
    }
  }
}

extension Replay {
  private mutating func backup(
    _ line: inout ScriptLine
  ) throws(ScriptError) {
    let replica = try device(&line)
    backups[try line.text("as")] = replica.state
  }

  private func restore(_ line: inout ScriptLine) throws(ScriptError) {
    let name = try line.text("on")
    _ = try devices.replica(name, in: line)
    devices.set(name, time: try line.time())
    let backup = try line.text("from")
    guard let state = backups[backup] else {
      throw line.error("no backup is kept as \"\(backup)\"")
    }
    devices.restore(
      name, state, isUnnoticed: try line.flag("unnoticed"))
  }

  private func fork(_ line: inout ScriptLine) throws(ScriptError) {
    let name = try line.text("on")
    try devices.fork(name, as: try line.text("as"), in: line)
    devices.set(name, time: try line.time())
  }
}

extension Replay {
  private func context(
    _ line: inout ScriptLine
  ) throws(ScriptError) -> ScriptContext {
    let name = try line.text("context")
    guard let context = contexts[name] else {
      throw line.error("no context is named \"\(name)\": fetch it first")
    }
    devices.set(context.device, time: try line.time())
    return context
  }

  private mutating func fetch(
    _ line: inout ScriptLine
  ) throws(ScriptError) {
    let device = try line.text("on")
    let replica = try devices.replica(device, in: line)
    devices.set(device, time: try line.time())
    let id = try schema.record(try line.text("record"), in: line)
    let policy = try line.text("policy")
    guard let policy = MergePolicy(named: policy) else {
      let names = MergePolicy.named.map(\.name).joined(separator: ", ")
      throw line.error("\"\(policy)\" is no merge policy; there are \(names)")
    }
    let context = EditingContext(replica, mergePolicy: policy)
    context.fetch(id)
    contexts[try line.text("context")] = ScriptContext(
      device: device, id: id, context: context)
  }

  private func edit(_ line: inout ScriptLine) throws(ScriptError) {
    let target = try context(&line)
    for (key, edit) in try ScriptVerbs(&line, on: target.id, schema).edits {
      target.context.apply(edit, to: key, in: target.id)
    }
  }

  private func commit(_ line: inout ScriptLine) throws(ScriptError) {
    var source = line
    let label = try source.text("context")
    let target = try context(&line)
    do {
      let report = try target.context.save()
      print(ReplayOutput.line(for: report, of: target.id, context: label))
      for error in report.failures.values {
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

  private func resolve(_ line: inout ScriptLine) throws(ScriptError) {
    let target = try context(&line)
    var values: [FieldKey: Value?] = [:]
    for (key, edit) in try ScriptVerbs(&line, on: target.id, schema).edits {
      guard case .write(let value) = edit else {
        throw line.error("only registers are resolved: use set and clear")
      }
      values[key] = .some(value)
    }
    attempt { () throws(SaveError) in
      try target.context.resolve(target.id, values)
    }
  }

  private func show(_ line: inout ScriptLine) throws(ScriptError) {
    let replica = try device(&line)
    print(ReplayOutput.line(for: replica, names: devices.names))
  }
}
