// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Rejoin

extension WallClock {
  /// The system clock.
  public static let system = WallClock {
    Int64(Date().timeIntervalSince1970 * 1000)
  }
}

extension DeviceID {
  /// Creates a device ID with the bytes of a UUID.
  public init(_ uuid: UUID) {
    let halves = withUnsafeBytes(of: uuid.uuid) {
      $0.loadUnaligned(as: (UInt64, UInt64).self)
    }
    self.init(
      high: UInt64(bigEndian: halves.0), low: UInt64(bigEndian: halves.1))
  }

  /// Returns a random device ID of 128 bits.
  @Sendable public static func random() -> DeviceID {
    var generator = SystemRandomNumberGenerator()
    return .random(using: &generator)
  }
}
