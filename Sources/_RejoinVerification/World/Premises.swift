// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// What the library's own preconditions take for granted.
///
/// A library in which a premise fails would trap while it encodes, before there is
/// anything to compare; a check that encodes asks here first.
public enum Premises {
  /// Checks the premises.
  ///
  /// - Throws: The first that does not hold.
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
