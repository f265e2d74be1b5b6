// SPDX-License-Identifier: Apache-2.0

/// The form of a value, in the lowest three bits of its first number.
private enum ValueForm: UInt64 {
  case constant, int, wide, double, string, bytes, date, reference
}

extension WireWriter {
  /// Writes a value, or the mark of an unset register for `nil`.
  mutating func value(_ value: Value?) {
    switch value {
    case nil: head(.constant, 0)
    case .null?: head(.constant, 1)
    case .bool(false)?: head(.constant, 2)
    case .bool(true)?: head(.constant, 3)
    case .int(let number)?: integer(number, .int, wide: 0)
    case .date(let number)?: integer(number, .date, wide: 1)
    case .double(let number)?:
      head(.double, 0)
      fixed(Value.canonicalBits(number))
    case .string(let text)?:
      head(.string, UInt64(text.utf8.count))
      self.text(text)
    case .bytes(let content)?:
      head(.bytes, UInt64(content.count))
      raw(content)
    case .reference(let id)?:
      head(.reference, UInt64(id.entity.utf8.count))
      text(id.entity)
      varint(id.key.utf8.count)
      text(id.key)
    }
  }

  private mutating func head(_ form: ValueForm, _ content: UInt64) {
    varint(content << 3 | form.rawValue)
  }

  /// Writes an integer, within the first number if it has at most 61 bits.
  private mutating func integer(
    _ number: Int64, _ form: ValueForm, wide: UInt64
  ) {
    if number.zigzag >> 61 == 0 { return head(form, number.zigzag) }
    head(.wide, wide)
    fixed(UInt64(bitPattern: number))
  }
}

extension WireReader {
  /// Reads a value, or `nil` for an unset register.
  ///
  /// - Parameter isBuilding: Whether texts and bytes are needed. If not, they
  ///   are only validated.
  mutating func value(
    isBuilding: Bool = true
  ) throws(WireError) -> Value? {
    let start = offset
    let head = try varint()
    let content = head >> 3
    let length = Int(clamping: content)
    switch ValueForm(rawValue: head & 7) {
    case .int: return .int(Int64(zigzag: content))
    case .date: return .date(Int64(zigzag: content))
    case .string:
      return .string(try text(length, isBuilding: isBuilding))
    case .bytes:
      let bytes = try take(length)
      return .bytes(isBuilding ? Array(bytes) : [])
    case .reference:
      let entity = try text(length, isBuilding: isBuilding)
      let key = try text(try count(), isBuilding: isBuilding)
      return isBuilding ? .reference(RecordID(entity, key)) : .null
    case .double where content == 0: return .double(try double())
    case .wide where content < 2: return try wide(content)
    case .constant:
      switch content {
      case 0: return nil
      case 1: return .null
      case 2: return .bool(false)
      case 3: return .bool(true)
      default: break
      }
    default: break
    }
    throw error(.invalid, "a known form of a value", at: start)
  }

  private mutating func double() throws(WireError) -> Double {
    let start = offset
    let bits = try fixed()
    let number = Double(bitPattern: bits)
    try require(
      Value.canonicalBits(number) == bits, .notCanonical,
      "a number without negative zero or other NaNs", at: start)
    return number
  }

  private mutating func wide(_ form: UInt64) throws(WireError) -> Value {
    let start = offset
    let number = Int64(bitPattern: try fixed())
    try require(
      number.zigzag >> 61 != 0, .notCanonical, "the short form of the integer",
      at: start)
    return form == 0 ? .int(number) : .date(number)
  }
}
