// SPDX-License-Identifier: Apache-2.0

/// The kind of a message, as the letter in its second byte.
package enum WireKind: UInt8, CaseIterable {
  case delta = 0x64  // d
  case snapshot = 0x73  // s
  case vectorClock = 0x76  // v
  case replicaVersion = 0x63  // c
  case stored = 0x70  // p
  case token = 0x74  // t

  /// The first byte of every message: `R`.
  static let mark: UInt8 = 0x52

  /// The third byte of every message, the version of the format.
  ///
  /// Incremented for breaking changes.
  package static let version: UInt8 = 2

  package var name: String {
    switch self {
    case .delta: "delta"
    case .snapshot: "snapshot"
    case .vectorClock: "vector clock"
    case .replicaVersion: "replica clock"
    case .stored: "stored replica"
    case .token: "restore token"
    }
  }

  /// Whether every interval begins at zero, so that its beginning is not
  /// written.
  var startsAtZero: Bool { self != .delta }

  /// Whether it may have fragments of fields.
  var hasFragments: Bool {
    self == .delta || self == .stored
  }
}
