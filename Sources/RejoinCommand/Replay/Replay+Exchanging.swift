// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinComparison
import RejoinTesting

extension Replay {
  func sync(_ line: inout ScriptLine) throws(ScriptError) {
    let sender = try devices.replica(try line.text("from"), in: line)
    let receiver = try device(&line, "to")
    var received = MergeReport()
    if let delta = sender.delta(since: receiver.version) {
      received = receiver.apply(try sent(delta, line))
    }
    received.add(receiver.recordVersion(sender.version, of: sender.device))
    let answer = sender.recordVersion(receiver.version, of: receiver.device)
    print([(answer, sender), (received, receiver)])
  }

  func merge(_ line: inout ScriptLine) throws(ScriptError) {
    let sender = try devices.replica(try line.text("from"), in: line)
    let receiver = try device(&line, "to")
    print([(receiver.merge(sender), receiver)])
  }

  /// Returns a delta after encoding and decoding, as if it were sent.
  func sent(
    _ delta: Delta, _ line: ScriptLine
  ) throws(ScriptError) -> Delta {
    try read(line) { () throws(WireError) in
      try Delta(decoding: delta.encoded())
    }
  }

  /// Decodes a message of a device.
  ///
  /// An error is a fault of the library.
  func read<Message>(
    _ line: ScriptLine, _ body: () throws(WireError) -> Message
  ) throws(ScriptError) -> Message {
    do { return try body() } catch { throw line.error("\(error)") }
  }

  mutating func delta(
    _ line: inout ScriptLine
  ) throws(ScriptError) {
    let replica = try device(&line)
    let name = try line.text("as")
    let limit = try line.byteLimit()
    func delta(since basis: ReplicaVersion) -> Delta? {
      limit.map { replica.delta(since: basis, byteLimit: $0) }
        ?? replica.delta(since: basis)
    }
    switch line.take("since") {
    case .scalar(.null)?:
      deltas[name] = .some(delta(since: ReplicaVersion()))
    case .scalar(.string(let other))?:
      let basis = try devices.replica(other, in: line)
      let report = replica.recordVersion(basis.version, of: basis.device)
      print([(report, replica)])
      deltas[name] = .some(delta(since: basis.version))
    default:
      throw line.error(
        "\"since\" must be a device, or null for the whole state")
    }
  }

  mutating func apply(
    _ line: inout ScriptLine
  ) throws(ScriptError) {
    let replica = try device(&line)
    if let delta = try kept(try line.text("delta"), in: line) {
      print([(replica.apply(try sent(delta, line)), replica)])
    }
  }

  mutating func split(
    _ line: inout ScriptLine
  ) throws(ScriptError) {
    let delta = try kept(try line.text("delta"), in: line)
    let names = try line.texts("as")
    guard !names.isEmpty else {
      throw line.error("\"as\" must be a list of names, one for each part")
    }
    let parts = delta?.split(into: names.count)
    for (i, name) in names.enumerated() { deltas[name] = .some(parts?[i]) }
  }

  func kept(
    _ name: String, in line: ScriptLine
  ) throws(ScriptError) -> Delta? {
    guard let delta = deltas[name] else {
      throw line.error(
        "no delta is kept as \"\(name)\"; keep one with \"delta\" or \"split\"")
    }
    return delta
  }

  /// Prints the faults that replicas report in a step, each once.
  func print(_ reports: [(MergeReport, Replica)]) {
    var printed: Set<String> = []
    for (report, replica) in reports {
      for text in ReplayOutput.lines(
        for: report, of: replica, names: devices.names)
      where printed.insert(text).inserted {
        print(text)
      }
    }
  }
}
