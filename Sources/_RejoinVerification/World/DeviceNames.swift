// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// The names of the devices of a script: `A`, `B` and so on, and `A#2` for the
/// second incarnation of `A`.
final class DeviceNames {
  private var incarnations: [Int: Int] = [:]

  /// Returns the letter of a device, with a number after the alphabet is used
  /// up.
  static func name(_ number: Int) -> String {
    let letter = Character(UnicodeScalar(UInt8(65 + number % 26)))
    return number < 26 ? "\(letter)" : "\(letter)\(number / 26)"
  }

  func device(_ number: Int) -> DeviceID {
    DeviceID(name: Self.name(number)) ?? DeviceID(UInt64(number))
  }

  /// Returns the next incarnation of a device.
  func renew(_ number: Int) -> DeviceID {
    let next = (incarnations[number] ?? 1) + 1
    incarnations[number] = next
    return DeviceID(name: "\(Self.name(number))#\(next)")
      ?? DeviceID(UInt64(number))
  }
}
