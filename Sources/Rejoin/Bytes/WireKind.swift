// SPDX-License-Identifier: Apache-2.0

/// The kind of a message, as the letter in its second byte.
package enum WireKind: UInt8, CaseIterable {
  case delta = 0x64  // d
  case snapshot = 0x73  // s
  case record = 0x72  // r
  case vectorClock = 0x76  // v
  case replicaVersion = 0x63  // c
  case stored = 0x70  // p
  case token = 0x74  // t
  case patch = 0x75  // u

  /// The first byte of every message: `R`.
  static let mark: UInt8 = 0x52

  /// The third byte of every message, the version of the format.
  ///
  /// Incremented for breaking changes.
  package static let version: UInt8 = 1

  package var name: String {
    switch self {
    case .delta: "delta"
    case .snapshot: "snapshot"
    case .record: "record"
    case .vectorClock: "vector clock"
    case .replicaVersion: "replica clock"
    case .stored: "stored replica"
    case .token: "restore token"
    case .patch: "record patch"
    }
  }

  /// Whether every interval begins at zero, so that its beginning is not
  /// written.
  var beginsAtNothing: Bool { self != .delta }

  /// Whether it may have parts of fields.
  var hasFragments: Bool {
    self == .delta || self == .record || self == .patch
  }
}
