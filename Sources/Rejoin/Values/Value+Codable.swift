// SPDX-License-Identifier: Apache-2.0

extension Value: Codable {
  private enum CodingKeys: CodingKey {
    case null, bool, int, double, string, bytes, date, reference
  }

  /// Encodes the content under the name of its type, such as `{"int": 5}`.
  ///
  /// Encodes numbers that JSON cannot represent as text: `"inf"`, `"-inf"`,
  /// `"nan"`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .null: try container.encode(true, forKey: .null)
    case .bool(let flag): try container.encode(flag, forKey: .bool)
    case .int(let number): try container.encode(number, forKey: .int)
    case .double(let number) where number.isFinite:
      try container.encode(number == 0 ? 0 : number, forKey: .double)
    case .double(let number):
      let name = number.isNaN ? "nan" : "\(number)"
      try container.encode(name, forKey: .double)
    case .string(let text): try container.encode(text, forKey: .string)
    case .bytes(let bytes): try container.encode(bytes, forKey: .bytes)
    case .date(let number): try container.encode(number, forKey: .date)
    case .reference(let id): try container.encode(id, forKey: .reference)
    }
  }

  /// Decodes the content under the name of its type.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard let key = container.allKeys.first, container.allKeys.count == 1 else {
      throw decoder.corrupted(
        "expected one key, the name of the value's type, such as \"int\"")
    }
    self =
      switch key {
      case .null: .null
      case .bool: .bool(try container.decode(Bool.self, forKey: key))
      case .int: .int(try container.decode(Int64.self, forKey: key))
      case .double: .double(try Value.double(in: container))
      case .string: .string(try container.decode(String.self, forKey: key))
      case .bytes: .bytes(try container.decode([UInt8].self, forKey: key))
      case .date: .date(try container.decode(Int64.self, forKey: key))
      case .reference:
        .reference(try container.decode(RecordID.self, forKey: key))
      }
  }

  private static func double(
    in container: KeyedDecodingContainer<CodingKeys>
  ) throws -> Double {
    let names: [String: Double] = [
      "inf": .infinity, "-inf": -.infinity, "nan": .nan,
    ]
    if let name = try? container.decode(String.self, forKey: .double),
      let number = names[name]
    {
      return number
    }
    let number = try container.decode(Double.self, forKey: .double)
    return Double(bitPattern: canonicalBits(number))
  }
}
