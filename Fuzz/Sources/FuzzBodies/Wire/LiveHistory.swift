// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting
import _RejoinVerification

/// A history of three devices.
///
/// Its messages are the seeds, and its replicas receive damaged messages.
public struct LiveHistory: Sendable {
  /// The stored state of each device.
  public private(set) var states: [ReplicaState] = []
  /// The version of each device.
  public private(set) var clocks: [ReplicaVersion] = []
  /// The encoded messages that the devices could have sent.
  public private(set) var messages: [[UInt8]] = []

  /// The history of the seeds of messages.
  ///
  /// Its replicas know the devices and records of these messages.
  public static let shared = LiveHistory(seed: 4, steps: 60)

  /// Creates a history by the saves and exchanges of a random script.
  public init(seed: UInt64, steps: Int) {
    let replicas = (1...3).map { LiveHistory.empty(DeviceID(UInt64($0))) }
    for replica in replicas.prefix(2) { replica.sendFragments() }
    let script = ScriptGenerator.script(seed: seed, steps: steps, devices: 3)
    for step in script.steps {
      switch step {
      case .save(let i, let verbs) where i < 3:
        let before = replicas[i].version
        _ = try? replicas[i].save { transaction in
          transaction.perform(verbs)
        }
        addMessage(replicas[i].delta(since: before))
      case .sync(let i, let j) where max(i, j) < 3,
        .call(let i, let j, _, _) where max(i, j) < 3:
        let delta = replicas[i].delta(since: replicas[j].version)
        addMessage(delta)
        if let delta { replicas[j].apply(delta) }
        replicas[j].recordVersion(replicas[i].version, of: replicas[i].device)
      case .split(let k, _, _) where k < 9: loseHalf(replicas)
      case .writePart(let i, let j, _, _) where max(i, j) < 3 && i != j:
        let part = replicas[i].delta(since: replicas[j].version, byteLimit: 1)
        addMessage(part)
        if let part { replicas[j].apply(part) }
        messages.append(replicas[j].version.encoded())
      default: Self.perform(step, on: replicas)
      }
    }
    _ = try? replicas[2].retire(DeviceID(9))
    meetAClone(of: replicas[1], seenBy: replicas[2])
    for replica in replicas {
      addMessages(of: replica)
      states.append(replica.state)
      clocks.append(replica.version)
    }
  }

  /// Performs a step that involves one device only.
  private static func perform(_ step: ScriptStep, on replicas: [Replica]) {
    switch step {
    case .bringIn(let i, let rows) where i < 3:
      _ = try? replicas[i].importRows { transaction in
        transaction.perform(rows)
      }
    case .pull(let i, let server, let time, let rows) where i < 3:
      _ = try? replicas[i].importRows(from: server, modifiedAt: time) {
        transaction in
        transaction.perform(rows)
      }
    case .retire(let i, let j) where max(i, j) < 3:
      _ = try? replicas[i].retire(replicas[j].device)
    case .purge(let i) where i < 3: _ = try? replicas[i].purgeDeletedRecords()
    case .storeToken(let i) where i < 3:
      replicas[i].confirmTokenStored(replicas[i].restoreToken)
    default: break
    }
  }

  /// Applies half of a delta, so that a device holds fields ahead of its
  /// version.
  private mutating func loseHalf(_ replicas: [Replica]) {
    guard let delta = replicas[0].delta(since: replicas[1].version) else {
      return
    }
    replicas[1].apply(Delta(Array(delta.changes.prefix(1))))
    messages.append(replicas[1].version.encoded())
  }

  /// Shows a replica two histories of one device ID.
  private mutating func meetAClone(of replica: Replica, seenBy other: Replica) {
    let clone = LiveHistory.open(replica.state)
    for each in [replica, clone] {
      let id = ScriptUniverse.standard.records[0]
      _ = try? each.save { transaction in
        transaction.ensureExists(id)
        if each === clone { transaction.delete(id) }
      }
      if let delta = each.delta(since: other.version) { other.apply(delta) }
      other.recordVersion(each.version, of: each.device)
      addMessage(each.delta(since: other.version))
    }
  }

  private mutating func addMessage(_ delta: Delta?) {
    guard let delta else { return }
    messages.append(delta.encoded())
    messages += delta.changes.prefix(1).map { Delta([$0]).encoded() }
  }

  private mutating func addMessages(of replica: Replica) {
    addMessage(replica.delta())
    messages += [
      replica.version.encoded(), replica.version.vectorClock.encoded(),
      replica.state.encoded(), replica.restoreToken.encoded(),
    ]
  }

  /// Creates a replica without saves.
  static func empty(_ device: DeviceID) -> Replica {
    Replica(
      device: device, schema: ScriptUniverse.standard.schema,
      wallClock: ManualClock().wallClock,
      makeDeviceID: makeDeviceID(0x5eed_0000))
  }

  /// Opens a stored replica with its own token.
  static func open(_ state: ReplicaState) -> Replica {
    open(state, with: RestoreToken(state))
  }

  /// Opens a stored replica with a token.
  ///
  /// It takes a new device ID if the token is not its own.
  static func open(
    _ state: ReplicaState, with token: RestoreToken?
  ) -> Replica {
    Replica(
      opening: state, token: token,
      schema: ScriptUniverse.standard.schema,
      wallClock: ManualClock().wallClock,
      makeDeviceID: makeDeviceID(0x0bed_0000))
  }

  /// Returns a factory of unused device IDs.
  private static func makeDeviceID(_ series: UInt64) -> () -> DeviceID {
    var next: UInt64 = 0
    return {
      next += 1
      return DeviceID(high: series, low: next)
    }
  }
}
