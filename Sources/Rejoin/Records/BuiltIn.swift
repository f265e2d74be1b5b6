// SPDX-License-Identifier: Apache-2.0

/// The entities of the library's own records, which are saved, joined and sent
/// like any others.
package enum BuiltIn {
  /// An enrolled device, with its ID in hexadecimal as the key.
  package static let roster = "rejoin.roster"
  /// A retired device, with its ID in hexadecimal as the key.
  ///
  /// `last` is the number of the device's last known save. If it has siblings,
  /// the greatest number counts.
  package static let retirement = "rejoin.retirement"
  /// A server's row as last pulled.
  static let pulled = "rejoin.pulled"

  static let name = FieldKey("name", .register)
  static let device = FieldKey("device", .register)
  /// The server that the device pulls from.
  ///
  /// Stability does not wait for such a device.
  static let server = FieldKey("server", .register)
  package static let last = FieldKey("last", .register)

  package static func isBuiltIn(_ entity: String) -> Bool {
    entity.utf8.starts(with: "rejoin.".utf8)
  }

  static func value(of device: DeviceID) -> Value {
    .bytes(device.bytes)
  }
}
