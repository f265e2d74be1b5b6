//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// The entities that the library keeps for itself, as records like any other.
package enum BuiltIn {
  /// A device that is expected to acknowledge; the key is its hexadecimal form.
  static let roster = "rejoin.roster"
  /// A retired device.
  ///
  /// `final` is the set of the greatest numbers of it that somebody on the
  /// roster held, of which the greatest counts.
  package static let retirement = "rejoin.retirement"
  /// Two names of one record, in `names`.
  static let alias = "rejoin.alias"

  static let name = FieldKey("name", .register)
  static let device = FieldKey("device", .register)
  package static let final = FieldKey("final", .set)
  /// The numbers up to which the late edits of a retired device have been entered
  /// again; the greatest counts.
  static let readmitted = FieldKey("readmitted", .set)
  static let names = FieldKey("names", .set)

  package static func isBuiltIn(_ entity: String) -> Bool {
    entity.utf8.starts(with: "rejoin.".utf8)
  }

  static func value(of device: DeviceID) -> Value {
    .bytes(device.bytes)
  }
}
