// SPDX-License-Identifier: Apache-2.0

/// What an app chooses if its store is missing, see ``StoreError/missing(_:)``.
public enum StoreRecovery: Hashable, Sendable {
  /// To begin anew, as a device that has not been.
  ///
  /// The records come back from the devices that have them. Saves that were never
  /// sent are lost.
  case asNewDevice
}
