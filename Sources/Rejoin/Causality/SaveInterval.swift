// SPDX-License-Identifier: Apache-2.0

/// The saves of one device after `from` and up to `to`, all effects of which are
/// in a delta.
public struct SaveInterval: Hashable, Sendable {
  /// The last save before the interval.
  public let from: UInt64
  /// The last save in the interval.
  ///
  /// Where the device is forked, an interval counts only from zero.
  public let to: DeviceSave
}
