// SPDX-License-Identifier: Apache-2.0

/// The entities that the library keeps for itself, as records like any other.
package enum BuiltIn {
  /// A device that is enrolled; the key is its hexadecimal form.
  static let roster = "rejoin.roster"
  /// A retired device; the key is its hexadecimal form.
  ///
  /// `last` is the number of its last save, of which the greatest sibling counts.
  package static let retirement = "rejoin.retirement"
  /// Two IDs of one record, in `names`.
  static let alias = "rejoin.alias"
  /// What a server's rows held when they were last pulled.
  static let pulled = "rejoin.pulled"

  static let name = FieldKey("name", .register)
  static let device = FieldKey("device", .register)
  /// The server whose rows the device stands for, which is waited for by nobody.
  static let server = FieldKey("server", .register)
  package static let last = FieldKey("last", .register)
  static let names = FieldKey("names", .set)

  package static func isBuiltIn(_ entity: String) -> Bool {
    entity.utf8.starts(with: "rejoin.".utf8)
  }

  static func value(of device: DeviceID) -> Value {
    .bytes(device.bytes)
  }
}
