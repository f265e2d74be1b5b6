// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension Replay {
  mutating func backup(
    _ line: inout ScriptLine
  ) throws(ScriptError) {
    let replica = try device(&line)
    backups[try line.text("as")] = (
      replica.state.encoded(), replica.undoHistory
    )
  }

  func token(_ line: inout ScriptLine) throws(ScriptError) {
    let name = try line.text("on")
    let replica = try devices.replica(name, in: line)
    devices.set(name, time: try line.time())
    let token = try read(line) { () throws(WireError) in
      try RestoreToken(decoding: replica.restoreToken.encoded())
    }
    devices.store(token, of: name)
  }

  func restore(_ line: inout ScriptLine) throws(ScriptError) {
    let name = try line.text("on")
    _ = try devices.replica(name, in: line)
    devices.set(name, time: try line.time())
    let backup = try line.text("from")
    guard let (bytes, history) = backups[backup] else {
      throw line.error(
        "no backup is kept as \"\(backup)\"; keep one with \"backup\"")
    }
    let state = try read(line) { () throws(WireError) in
      try ReplicaState(decoding: bytes)
    }
    let isUnnoticed = try line.flag("unnoticed")
    if try line.flag("token") {
      if isUnnoticed {
        throw line.error(
          "\"token\" and \"unnoticed\" exclude each other; write one of them, "
            + "not both")
      }
      let change = try devices.open(name, state, history, in: line)
      if let change {
        print(
          ReplayOutput.line(
            for: change, restoring: backup, names: devices.names))
      }
    } else {
      try devices.restore(
        name, state, history, isUnnoticed: isUnnoticed, in: line)
    }
  }

  mutating func crash(_ line: inout ScriptLine) throws(ScriptError) {
    let name = try line.text("on")
    let replica = try devices.replica(name, in: line)
    devices.set(name, time: try line.time())
    contexts = contexts.filter { $0.value.device != name }
    let state = try read(line) { () throws(WireError) in
      try ReplicaState(decoding: replica.state.encoded())
    }
    try devices.crash(name, state, in: line)
  }

  func fork(_ line: inout ScriptLine) throws(ScriptError) {
    let name = try line.text("on")
    try devices.fork(name, as: try line.text("as"), in: line)
    devices.set(name, time: try line.time())
  }
}
