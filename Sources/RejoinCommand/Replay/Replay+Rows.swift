// SPDX-License-Identifier: Apache-2.0

import Rejoin

// Rows that come from a database or a server.
extension Replay {
  func importRows(_ line: inout ScriptLine) throws(ScriptError) {
    let replica = try device(&line)
    let rows = try rows(&line)
    report(replica) { () throws(SaveError) in
      try replica.importRows { transaction in
        rows.forEach { $0.apply(to: transaction) }
      }
    }
  }

  func pull(_ line: inout ScriptLine) throws(ScriptError) {
    let name = try line.text("on")
    let replica = try devices.replica(name, in: line)
    devices.set(name, time: try line.time("now"))
    let server = try line.text("server")
    guard let time = try line.time() else {
      throw line.error(
        "\"at\" is missing; add the time when the server modified the rows, in "
          + "milliseconds")
    }
    let rows = try rows(&line)
    for case (let key, _) in rows.flatMap(\.edits)
    where key.kind != .register {
      throw line.error(
        "\"\(key.name)\" is a \(key.kind.rawValue), and only registers are "
          + "pulled; leave it out")
    }
    report(replica) { () throws(SaveError) in
      try replica.importRows(from: server, modifiedAt: time) { transaction in
        rows.forEach { $0.apply(to: transaction) }
      }
    }
  }

  private func report(
    _ replica: Replica, _ body: () throws(SaveError) -> MergeReport
  ) {
    do {
      print([(try body(), replica)])
    } catch {
      print(ReplayOutput.line(for: error))
    }
  }
}
