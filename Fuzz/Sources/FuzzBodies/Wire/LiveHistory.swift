// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting
import _RejoinVerification

/// Three devices that have worked for a while: where seeds come from, and what
/// damaged messages meet.
public struct LiveHistory: Sendable {
  /// What the devices have stored.
  public private(set) var states: [StoredReplica] = []
  /// What they have shown each other.
  public private(set) var clocks: [ReplicaVersion] = []
  /// Everything that they could have sent, as bytes.
  public private(set) var messages: [[UInt8]] = []

  /// One history, of which the messages that are applied know something.
  public static let shared = LiveHistory(seed: 4, steps: 60)

  /// Runs the saves and exchanges of a random script.
  public init(seed: UInt64, steps: Int) {
    let replicas = (1...3).map { LiveHistory.empty(DeviceID(UInt64($0))) }
    let script = ScriptGenerator.script(seed: seed, steps: steps, devices: 3)
    for step in script.steps {
      switch step {
      case .save(let i, let verbs) where i < 3:
        let before = replicas[i].version
        _ = try? replicas[i].save { transaction in
          for verb in verbs { transaction.perform(verb) }
        }
        note(replicas[i].delta(since: before))
      case .sync(let i, let j) where max(i, j) < 3:
        let delta = replicas[i].delta(since: replicas[j].version)
        note(delta)
        if let delta { replicas[j].apply(delta) }
        replicas[j].acknowledge(replicas[i].version, by: replicas[i].device)
      case .split(let k, _, _) where k < 9: loseHalf(replicas)
      default: Self.perform(step, on: replicas)
      }
    }
    _ = try? replicas[2].retire(DeviceID(9))
    meetAClone(of: replicas[1], seenBy: replicas[2])
    for replica in replicas {
      note(replica)
      states.append(replica.state)
      clocks.append(replica.version)
    }
  }

  /// Steps that need no second device.
  private static func perform(_ step: ScriptStep, on replicas: [Replica]) {
    switch step {
    case .bringIn(let i, let rows) where i < 3:
      _ = try? replicas[i].import { transaction in
        rows.forEach { transaction.perform($0) }
      }
    case .pull(let i, let server, let time, let rows) where i < 3:
      _ = try? replicas[i].pull(from: server, modifiedAt: time) { transaction in
        rows.forEach { transaction.perform($0) }
      }
    case .alias(let i, let a, let b) where i < 3:
      _ = try? replicas[i].alias(a, b)
    case .retire(let i, let j) where max(i, j) < 3:
      _ = try? replicas[i].retire(replicas[j].device)
    case .purge(let i) where i < 3: _ = try? replicas[i].purge()
    case .storeToken(let i) where i < 3:
      replicas[i].tokenStored(replicas[i].restoreToken)
    default: break
    }
  }

  /// One half of what a device lacks reaches it, so that it holds fields ahead of
  /// its clock.
  private mutating func loseHalf(_ replicas: [Replica]) {
    guard let news = replicas[0].delta(since: replicas[1].version) else {
      return
    }
    replicas[1].apply(news.split(into: 2)[0])
    messages.append(replicas[1].version.encoded())
  }

  /// Somebody is shown two histories of one device.
  private mutating func meetAClone(of replica: Replica, seenBy other: Replica) {
    let clone = LiveHistory.open(replica.state)
    for each in [replica, clone] {
      let id = ScriptUniverse.standard.records[0]
      _ = try? each.save { transaction in
        transaction.touch(id)
        if each === clone { transaction.delete(id) }
      }
      if let news = each.delta(since: other.version) { other.apply(news) }
      other.acknowledge(each.version, by: each.device)
      note(each.delta(since: other.version))
    }
  }

  private mutating func note(_ delta: Delta?) {
    guard let delta else { return }
    messages.append(delta.encoded())
    messages += delta.changes.prefix(1).map { $0.encoded() }
  }

  private mutating func note(_ replica: Replica) {
    messages += [
      replica.encoded(), replica.version.encoded(),
      replica.version.vector.encoded(), replica.state.encoded(),
      replica.restoreToken.encoded(),
    ]
  }

  /// A replica that has never saved.
  static func empty(_ device: DeviceID) -> Replica {
    Replica(
      device: device, schema: ScriptUniverse.standard.schema,
      wallClock: ManualClock().wall, makeDeviceID: makeDeviceID(0x5eed_0000))
  }

  /// A replica that goes on with what was stored.
  static func open(_ stored: StoredReplica) -> Replica {
    open(stored, with: RestoreToken(stored))
  }

  /// A replica that goes on with what was stored, if the token belongs to it.
  static func open(
    _ stored: StoredReplica, with token: RestoreToken?
  ) -> Replica {
    Replica(
      opening: stored, token: token,
      schema: ScriptUniverse.standard.schema, wallClock: ManualClock().wall,
      makeDeviceID: makeDeviceID(0x0bed_0000))
  }

  /// Devices that nobody has used, one after the other.
  private static func makeDeviceID(_ series: UInt64) -> () -> DeviceID {
    var next: UInt64 = 0
    return {
      next += 1
      return DeviceID(high: series, low: next)
    }
  }
}
