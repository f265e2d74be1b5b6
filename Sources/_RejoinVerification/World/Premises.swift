// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// The assumptions behind the library's own preconditions.
///
/// If a premise fails, the library traps while it encodes, before a checker can
/// compare results. A checker that encodes therefore checks the premises first.
public enum Premises {
  /// Checks the premises.
  ///
  /// - Throws: The first violation.
  public static func check() throws(ScriptMismatch) {
    if let violation { throw violation }
  }

  private static let violation = dotOrder ?? unseenChanges

  private static var dotOrder: ScriptMismatch? {
    let dots = [1, 2].flatMap { device in
      [1, 2].map { Dot(DeviceID(device as UInt64), $0) }
    }
    for (i, a) in dots.enumerated() {
      for (j, b) in dots.enumerated() where (a < b) != (i < j) {
        return ScriptMismatch(
          "premise: dots are ordered by device, then by sequence: \(a) < \(b) "
            + "is \(a < b)")
      }
    }
    return nil
  }

  private static var unseenChanges: ScriptMismatch? {
    let replica = Replica(
      device: DeviceID(1), schema: Schema(["E": .init()]),
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(2) })
    do { try replica.save { $0.ensureExists(RecordID("E", "a")) } } catch {
      return ScriptMismatch("premise: a save succeeds: \(error)")
    }
    if replica.delta(since: replica.version) == nil { return nil }
    return ScriptMismatch(
      "premise: a replica has no unseen changes since its own version")
  }
}
