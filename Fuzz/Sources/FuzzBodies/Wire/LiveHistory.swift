//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin
import RejoinTesting

/// Three devices that have worked for a while: where seeds come from, and what
/// damaged messages meet.
public struct LiveHistory: Sendable {
  /// What the devices have stored.
  public private(set) var states: [StoredReplica] = []
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
        let before = replicas[i].clock
        _ = try? replicas[i].save { edit in
          for verb in verbs { edit.perform(verb) }
        }
        note(replicas[i].delta(since: before))
      case .sync(let i, let j) where max(i, j) < 3:
        let delta = replicas[i].delta(since: replicas[j].clock)
        note(delta)
        if let delta { replicas[j].apply(delta) }
        replicas[j].acknowledge(replicas[i].clock, by: replicas[i].device)
      default: break
      }
    }
    _ = try? replicas[2].retire(DeviceID(9))
    for replica in replicas {
      note(replica)
      states.append(replica.state)
    }
  }

  private mutating func note(_ delta: Delta?) {
    guard let delta else { return }
    messages.append(delta.encoded())
    messages += delta.changes.prefix(1).map { $0.encoded() }
  }

  private mutating func note(_ replica: Replica) {
    messages += [
      replica.encoded(), replica.clock.encoded(),
      replica.clock.vector.encoded(), replica.state.encoded(),
    ]
  }

  /// A replica that has never saved.
  static func empty(_ device: DeviceID) -> Replica {
    Replica(
      device: device, schema: ScriptUniverse.standard.schema,
      clock: HandSetClock().wall, makeDeviceID: makeDeviceID())
  }

  /// A replica that goes on with what was stored.
  static func open(_ stored: StoredReplica) -> Replica {
    Replica(
      opening: stored, token: RestoreToken(stored),
      schema: ScriptUniverse.standard.schema, clock: HandSetClock().wall,
      makeDeviceID: makeDeviceID())
  }

  /// Devices that nobody has used, one after the other.
  private static func makeDeviceID() -> () -> DeviceID {
    var next: UInt64 = 0
    return {
      next += 1
      return DeviceID(high: 0x5eed_0000, low: next)
    }
  }
}
