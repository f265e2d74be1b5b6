// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Synchronization

/// A wall clock that a script sets.
final class ScriptClock: Sendable {
  private let time = Mutex<Int64>(0)

  func set(_ now: Int64) { time.withLock { $0 = now } }

  var now: Int64 { time.withLock { $0 } }

  var wallClock: WallClock { WallClock { [self] in now } }
}

/// The devices of a script.
final class ScriptDevices {
  let schema: Schema
  /// The replicas, by name.
  private var replicas: [String: Replica] = [:]
  /// The wall clocks, by name; one for each of `replicas`.
  private var clocks: [String: ScriptClock] = [:]
  /// The number of the last incarnation of a name; one if it is missing.
  private var incarnations: [String: Int] = [:]
  /// The names of all device IDs in use, those of earlier incarnations
  /// included.
  private(set) var names: [DeviceID: String] = [:]
  /// The token that was stored last, by name.
  private var tokens: [String: RestoreToken] = [:]

  init(_ schema: Schema) { self.schema = schema }

  /// The replica of a device, which is created when it is first named.
  func replica(
    _ name: String, in line: ScriptLine
  ) throws(ScriptError) -> Replica {
    if let replica = replicas[name] { return replica }
    let device = try identity(name, in: line)
    let clock = ScriptClock()
    let replica = Replica(
      device: device, schema: schema, wallClock: clock.wallClock,
      makeDeviceID: { [unowned self] in renew(name) })
    (replicas[name], clocks[name]) = (replica, clock)
    return replica
  }

  func exists(_ name: String) -> Bool { replicas[name] != nil }

  func set(_ name: String, time: Int64?) {
    if let time { clocks[name]?.set(time) }
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
    let clock = ScriptClock()
    clock.set(clocks[name]?.now ?? 0)
    replicas[copy] = original.fork(
      as: device, wallClock: clock.wallClock,
      makeDeviceID: { [unowned self] in renew(copy) })
    clocks[copy] = clock
  }

  /// Stores a device's token apart from its backups.
  func store(_ token: RestoreToken, of name: String) {
    tokens[name] = token
    replicas[name]?.tokenStored(token)
  }

  /// Puts a stored state back: with a matching token if the restore is to stay
  /// unnoticed, or else with none.
  func restore(
    _ name: String, _ state: StoredReplica, isUnnoticed: Bool
  ) {
    open(name, state, isUnnoticed ? RestoreToken(state) : nil)
  }

  /// Puts a stored state back and opens it with the token that was stored last.
  ///
  /// - Returns: The old and the new device, if a new device was needed.
  func open(_ name: String, _ state: StoredReplica) -> Replica.DeviceChange? {
    open(name, state, tokens[name])
    return replicas[name]?.deviceChange
  }

  private func open(
    _ name: String, _ state: StoredReplica, _ token: RestoreToken?
  ) {
    let clock = clocks[name] ?? ScriptClock()
    replicas[name] = Replica(
      opening: state, token: token, schema: schema, wallClock: clock.wallClock,
      makeDeviceID: { [unowned self] in renew(name) })
    clocks[name] = clock
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
