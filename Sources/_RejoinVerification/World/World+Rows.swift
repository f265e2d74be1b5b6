// SPDX-License-Identifier: Apache-2.0
import Rejoin

// Rows from other databases.
extension World {
  mutating func bringIn(
    _ i: Int, _ rows: [ScriptVerb]
  ) throws(ScriptMismatch) -> Int? {
    if rows.isEmpty { return nil }
    let now = peers[i].now
    let name: Dot?
    do { name = try peers[i].replica.bringIn(rows, now: now) } catch {
      throw ScriptMismatch("an import throws \(error)")
    }
    guard let dot = name, dot.sequence == 1 else {
      throw ScriptMismatch("an import is \(String(describing: name))")
    }
    // Only the rows determine the device ID of an import.
    let plain = OracleReplica.importing(
      rows, as: Dot(DeviceID(0), 1), history: history)
    if let device = imports[plain] {
      try agree("the device of the same rows", dot.device, device)
    } else {
      try agree(
        "other rows have the device", imports.values.contains(dot.device),
        false)
      imports[plain] = dot.device
    }
    history.imports.insert(dot.device)
    let index = history.index(
      of: OracleReplica.importing(rows, as: dot, history: history))
    peers[i].model.hear(index, now: now)
    try recordSave(dot, index, by: i)
    return i
  }

  mutating func pull(
    _ i: Int, _ rows: [ScriptVerb], from server: String,
    modifiedAt time: Int64
  ) throws(ScriptMismatch) -> Int? {
    if !undecidable.isEmpty { return nil }
    let now = peers[i].now
    let dot: Dot?
    do {
      dot = try peers[i].replica.pull(
        rows, from: server, modifiedAt: time, now: now)
    } catch { throw ScriptMismatch("a pull throws \(error)") }
    if peers[i].replica.device != peers[i].model.device {
      try checkRenewal(i)
    }
    if let dot, peers[i].model.knowledge.pullDevices[server] != dot.device {
      try agree(
        "the device for \(server)",
        peers[i].model.knowledge.pullDevices[server],
        nil)
      try checkUnused(dot.device)
    }
    let index = peers[i].model.pull(
      rows, from: server, modifiedAt: time, as: dot?.device ?? DeviceID(0),
      now: now)
    guard let index, let dot else {
      try agree("a pull takes a dot", dot != nil, index != nil)
      return i
    }
    try agree("dot of a pull", dot, history.saves[index].dot)
    counts.pulls += 1
    try recordSave(dot, index, by: i)
    return i
  }
}
