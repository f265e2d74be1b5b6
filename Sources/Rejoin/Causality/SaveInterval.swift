// SPDX-License-Identifier: Apache-2.0

/// A range of one device's saves whose effects a delta contains in full.
public struct SaveInterval: Hashable, Sendable {
  /// The number of the last save before the interval.
  public let from: UInt64
  /// The last save in the interval.
  ///
  /// If the device is forked, the interval counts only if `from` is zero.
  /// Otherwise, the earlier saves may belong to another history.
  public let to: DeviceSave
}
