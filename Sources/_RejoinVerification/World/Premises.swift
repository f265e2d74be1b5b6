// SPDX-License-Identifier: Apache-2.0

import Rejoin

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

  private static let violation: ScriptMismatch? = {
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
  }()
}
