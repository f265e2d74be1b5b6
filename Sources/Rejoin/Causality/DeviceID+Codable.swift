// SPDX-License-Identifier: Apache-2.0

extension DeviceID: Codable {
  /// Encodes the 32 hexadecimal digits.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(hexadecimal)
  }

  /// Decodes the 32 hexadecimal digits.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let device = DeviceID(hexadecimal: text) else {
      throw decoder.corrupted(
        "expected a device ID of 32 hexadecimal digits, not \(text)")
    }
    self = device
  }
}
