// SPDX-License-Identifier: Apache-2.0

/// The saves of one device after `from` and up to `to`, all of whose effects are
/// in a delta.
public struct SaveInterval: Hashable, Sendable {
  /// The number of the last save before the interval.
  public let from: UInt64
  /// The last save in the interval.
  ///
  /// If the device is forked, the interval counts only if `from` is zero: the
  /// saves before it may be of another history.
  public let to: DeviceSave
}
