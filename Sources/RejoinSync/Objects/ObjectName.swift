// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The name of an object, with its device and its saves.
package struct ObjectName: Hashable, Sendable {
  /// The content of an object.
  package enum Content: Hashable, Sendable {
    /// Saves of a device.
    case saves(SaveInterval)
    /// The version of a device, after earlier ones.
    case version(number: UInt64)
  }

  package let device: DeviceID
  package let content: Content
  /// A random number, which makes the name unique.
  package let nonce: UInt64

  package init(_ device: DeviceID, _ content: Content, nonce: UInt64) {
    (self.device, self.content, self.nonce) = (device, content, nonce)
  }

  /// The saves in the object, or `nil` for a version.
  package var interval: SaveInterval? {
    if case .saves(let interval) = content { interval } else { nil }
  }

  /// The number of the version in the object, or `nil` for saves.
  package var number: UInt64? {
    if case .version(let number) = content { number } else { nil }
  }
}

extension ObjectName: CustomStringConvertible {
  /// The name as text.
  package var description: String {
    switch content {
    case .saves(let interval):
      "\(device.hexadecimal).\(digits(interval.from))-\(digits(interval.to.sequence))"
        + ".\(digits(interval.to.digest))\(interval.to.isForked ? "f" : "")"
        + ".\(digits(nonce)).rejoin"
    case .version(let number):
      "\(device.hexadecimal).\(digits(number)).\(digits(nonce)).version"
    }
  }

  /// Creates the name with a text, or returns `nil` for the name of a foreign object.
  package init?(_ text: String) {
    // A name may have any length.
    if text.utf8.count > 120 { return nil }
    let parts = text.split(
      separator: ".", omittingEmptySubsequences: false)
    guard let device = parts.first.flatMap({ DeviceID(hexadecimal: "\($0)") })
    else { return nil }
    switch (parts.last, parts.count) {
    case ("rejoin", 5):
      let ends = parts[1].split(
        separator: "-", omittingEmptySubsequences: false)
      let isForked = parts[2].hasSuffix("f") && parts[2].utf8.count == 17
      guard ends.count == 2, let from = parsed(ends[0]),
        let to = parsed(ends[1]), from < to, !isForked || from == 0,
        let digest = parsed(parts[2].dropLast(isForked ? 1 : 0)),
        let nonce = parsed(parts[3])
      else { return nil }
      let save = DeviceSave(
        sequence: to, time: .zero, digest: digest, isForked: isForked)
      let interval = SaveInterval(from: from, to: save)
      self.init(device, .saves(interval), nonce: nonce)
    case ("version", 4):
      guard let count = parsed(parts[1]), let nonce = parsed(parts[2])
      else { return nil }
      self.init(device, .version(number: count), nonce: nonce)
    default: return nil
    }
  }
}

/// Returns a number as 16 hexadecimal digits.
private func digits(_ number: UInt64) -> String {
  let text = String(number, radix: 16)
  return String(repeating: "0", count: 16 - text.count) + text
}

/// Returns the number of 16 lowercase hexadecimal digits, or `nil`.
private func parsed(_ text: Substring) -> UInt64? {
  let number = UInt64(text, radix: 16)
  // The parser also accepts signs and uppercase digits.
  return number.flatMap { text.utf8.elementsEqual(digits($0).utf8) ? $0 : nil }
}
