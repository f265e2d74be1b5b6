// SPDX-License-Identifier: Apache-2.0

/// The entities of the library's own records, which are saved, joined and sent
/// like any others.
package enum BuiltIn {
  /// An enrolled device; the key is its ID in hexadecimal.
  package static let roster = "rejoin.roster"
  /// A retired device; the key is its ID in hexadecimal.
  ///
  /// `last` is the number of its last known save; of siblings the greatest
  /// counts.
  package static let retirement = "rejoin.retirement"
  /// A server's row as it was last pulled.
  static let pulled = "rejoin.pulled"

  static let name = FieldKey("name", .register)
  static let device = FieldKey("device", .register)
  /// The server that the device pulls from; stability does not await such a
  /// device.
  static let server = FieldKey("server", .register)
  package static let last = FieldKey("last", .register)

  package static func isBuiltIn(_ entity: String) -> Bool {
    entity.utf8.starts(with: "rejoin.".utf8)
  }

  static func value(of device: DeviceID) -> Value {
    .bytes(device.bytes)
  }
}
