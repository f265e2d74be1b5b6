// SPDX-License-Identifier: Apache-2.0

/// The way to continue after ``StoreError/missing(_:)``.
public enum StoreRecovery: Hashable, Sendable {
  /// Starts again as a new device.
  ///
  /// The records return when other devices send them. Saves that were never
  /// sent are lost.
  case asNewDevice
}
