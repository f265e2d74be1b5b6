// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// The devices of a script.
final class ScriptDevices {
  let schema: Schema
  /// The stores of the replicas, or `nil` if they are only in memory.
  private let stores: ScriptStores?
  /// The replicas, by name.
  private var replicas: [String: Replica] = [:]
  /// The wall clocks, by name, one for each of `replicas`.
  private var clocks: [String: ManualClock] = [:]
  /// The number of the last incarnation of a name, or one if it is missing.
  private var incarnations: [String: Int] = [:]
  /// The names of all device IDs in use, those of earlier incarnations
  /// included.
  private(set) var names: [DeviceID: String] = [:]
  /// The token that was stored last, by name.
  private var tokens: [String: RestoreToken] = [:]

  init(_ schema: Schema, in stores: ScriptStores? = nil) {
    (self.schema, self.stores) = (schema, stores)
  }

  /// The replica of a device, which is created when it is first named.
  func replica(
    _ name: String, in line: ScriptLine
  ) throws(ScriptError) -> Replica {
    if let replica = replicas[name] { return replica }
    let device = try identity(name, in: line)
    clocks[name] = ManualClock(0)
    let empty = Replica(
      device: device, schema: schema, wallClock: WallClock { 0 },
      makeDeviceID: newDevices(for: name)
    ).state
    return try open(name, empty, RestoreToken(empty), in: line)
  }

  /// Returns the result of `body`, or `nil` if replicas are not stored.
  private func onDisk<Value>(
    _ line: ScriptLine,
    _ body: (ScriptStores) throws(ScriptStores.Failure) -> Value?
  ) throws(ScriptError) -> Value? {
    guard let stores else { return nil }
    do { return try body(stores) } catch { throw line.error(error.description) }
  }

  /// Stores the changes of a line.
  func write(after line: ScriptLine) throws(ScriptError) {
    _ = try onDisk(line) { stores throws(ScriptStores.Failure) in
      try stores.write()
    }
  }

  func exists(_ name: String) -> Bool { replicas[name] != nil }

  func set(_ name: String, time: Int64?) {
    if let time { clocks[name]?.now = time }
  }

  /// Copies a device's state to a new device.
  func fork(
    _ name: String, as copy: String, in line: ScriptLine
  ) throws(ScriptError) {
    let original = try replica(name, in: line)
    guard !exists(copy) else {
      throw line.error("\"\(copy)\" exists; fork as a new device")
    }
    let device = try identity(copy, in: line)
    guard original.version[device].sequence == 0 else {
      throw line.error("\"\(copy)\" has saved; fork as a new device")
    }
    let (clock, state) = (ManualClock(0), original.fork(as: device).state)
    // A copy is not opened later: its clock is not set back.
    clock.now = state.hybrid.latest.milliseconds
    clocks[copy] = clock
    try open(copy, state, RestoreToken(state), in: line)
    clock.now = clocks[name]?.now ?? 0
  }

  /// Stores a device's token apart from its backups.
  func store(_ token: RestoreToken, of name: String) {
    tokens[name] = token
    replicas[name]?.confirmTokenStored(token)
  }

  /// Opens the state and the undo history of a backup.
  ///
  /// - Parameter isUnnoticed: Whether the state gets its own token, so the
  ///   restore stays undetected. Otherwise, it gets none.
  func restore(
    _ name: String, _ state: ReplicaState, _ history: UndoHistory,
    isUnnoticed: Bool, in line: ScriptLine
  ) throws(ScriptError) {
    try open(name, state, isUnnoticed ? RestoreToken(state) : nil, in: line)
      .undoHistory = history
  }

  /// Opens the state of a backup with the token that was stored last.
  ///
  /// - Returns: The old and the new device, if a new device was needed.
  func open(
    _ name: String, _ state: ReplicaState, _ history: UndoHistory,
    in line: ScriptLine
  ) throws(ScriptError) -> Replica.DeviceChange? {
    let replica = try open(name, state, tokens[name], in: line)
    replica.undoHistory = history
    return replica.deviceChange
  }

  /// Opens a device's replica again from its stored state.
  ///
  /// - Parameter state: The stored state if replicas are in memory.
  func crash(
    _ name: String, _ state: ReplicaState, in line: ScriptLine
  ) throws(ScriptError) {
    let clock = clocks[name] ?? ManualClock(0)
    let stored = try onDisk(line) { stores throws(ScriptStores.Failure) in
      try stores.reopen(
        name, schema: schema, wallClock: clock.wallClock,
        makeDeviceID: newDevices(for: name))
    }
    if let stored {
      replicas[name] = stored
      return
    }
    let history = replicas[name]?.undoHistory ?? UndoHistory()
    try open(name, state, RestoreToken(state), in: line).undoHistory = history
  }

  @discardableResult
  private func open(
    _ name: String, _ state: ReplicaState, _ token: RestoreToken?,
    in line: ScriptLine
  ) throws(ScriptError) -> Replica {
    let clock = clocks[name] ?? ManualClock(0)
    clocks[name] = clock
    let stored = try onDisk(line) { stores throws(ScriptStores.Failure) in
      try stores.begin(
        name, with: state, token, schema: schema, wallClock: clock.wallClock,
        makeDeviceID: newDevices(for: name))
    }
    let replica =
      stored
      ?? Replica(
        opening: state, token: token, schema: schema,
        wallClock: clock.wallClock, makeDeviceID: newDevices(for: name))
    replicas[name] = replica
    return replica
  }

  private func newDevices(for name: String) -> () -> DeviceID {
    { [unowned self] in renew(name) }
  }

  private func identity(
    _ name: String, in line: ScriptLine
  ) throws(ScriptError) -> DeviceID {
    guard let device = DeviceID(name: name) else {
      throw line.error(
        "the device name \"\(name)\" has \(name.utf8.count) bytes; use a name "
          + "of 1 to 16 bytes")
    }
    guard names[device] == nil else {
      throw line.error(
        "\"\(name)\" is already an incarnation of another device; use another "
          + "name")
    }
    names[device] = name
    return device
  }

  /// The ID of a device's next incarnation: `NAME#2`, `NAME#3` and so on.
  private func renew(_ name: String) -> DeviceID {
    while true {
      let number = (incarnations[name] ?? 1) + 1
      incarnations[name] = number
      let suffix = Array("#\(number)".utf8)
      let bytes = Array(name.utf8.prefix(16 - suffix.count)) + suffix
      let padding = Array(repeating: 0 as UInt8, count: 16 - bytes.count)
      guard let device = DeviceID(bytes: bytes + padding),
        names[device] == nil
      else { continue }
      names[device] = "\(name)#\(number)"
      return device
    }
  }
}
