// SPDX-License-Identifier: Apache-2.0

import Rejoin

// Fuzz targets are another package and cannot use the library's own functions.
extension UndoStep {
  /// The step as a store writes it, without its save and its name.
  public var storedBytes: [UInt8] { encoded() }

  /// Decodes a step as a store reads it, as a step of some save.
  public init(storedBytes bytes: [UInt8]) throws(WireError) {
    try self.init(decoding: bytes, dot: Dot(DeviceID(1), 1), name: nil)
  }
}
