// SPDX-License-Identifier: Apache-2.0

/// The kind of a message, identified by the letter in its second byte.
package enum WireKind: UInt8, CaseIterable {
  case delta = 0x64  // d
  case snapshot = 0x73  // s
  case vectorClock = 0x76  // v
  case replicaVersion = 0x63  // c
  case stored = 0x70  // p
  case token = 0x74  // t
  case undoStep = 0x75  // u

  /// The first byte of every message: `R`.
  static let mark: UInt8 = 0x52

  /// The third byte of every message, which is the version of the format.
  ///
  /// It is incremented for breaking changes.
  package static let version: UInt8 = 2

  package var name: String {
    switch self {
    case .delta: "delta"
    case .snapshot: "snapshot"
    case .vectorClock: "vector clock"
    case .replicaVersion: "replica clock"
    case .stored: "stored replica"
    case .token: "restore token"
    case .undoStep: "undo step"
    }
  }

  /// Whether every interval starts at zero, so messages omit its start.
  var startsAtZero: Bool { self != .delta }

  /// Whether messages of this kind may contain fragments of fields.
  var hasFragments: Bool {
    self == .delta || self == .stored
  }
}
