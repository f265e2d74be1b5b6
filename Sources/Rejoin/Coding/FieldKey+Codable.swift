// SPDX-License-Identifier: Apache-2.0

extension FieldKind: Codable {}

extension FieldKey: Codable {
  private enum CodingKeys: CodingKey { case name, kind, variant }

  /// Encodes the name, the kind, and the variant if there is one.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(kind, forKey: .kind)
    try container.encodeIfPresent(variant, forKey: .variant)
  }

  /// Decodes the key of a field.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let name = try container.decode(String.self, forKey: .name)
    let kind = try container.decode(FieldKind.self, forKey: .kind)
    let variant = try container.decodeIfPresent(String.self, forKey: .variant)
    guard FieldKey.isValid(name, kind, variant) else {
      throw decoder.corrupted(
        "expected a name and a variant of 1 to 255 bytes, and a variant that "
          + "differs from the kind's name")
    }
    self.init(name, kind, variant: variant)
  }
}
