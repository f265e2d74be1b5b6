// SPDX-License-Identifier: Apache-2.0

/// A type whose values fields can store.
///
/// The conversion must preserve identity: two values are equal if and only if
/// their ``Value``s are. For a `RawRepresentable` type, it is enough to declare
/// the conformance:
///
///     enum Colour: String, FieldValue { case red, green }
public protocol FieldValue: Sendable {
  /// The stored form of the value.
  var fieldValue: Value { get }

  /// Creates a value from its stored form.
  ///
  /// - Returns: `nil` if the stored value has another type, for example because
  ///   a newer version of the app wrote it.
  init?(fieldValue value: Value)
}

extension Value: FieldValue {
  /// This value.
  public var fieldValue: Value { self }

  /// Creates a copy of a value.
  public init(fieldValue value: Value) { self = value }
}

extension Bool: FieldValue {
  public var fieldValue: Value { .bool(self) }

  public init?(fieldValue value: Value) {
    guard case .bool(let flag) = value else { return nil }
    self = flag
  }
}

extension FieldValue where Self: FixedWidthInteger {
  /// The integer, or its big-endian bytes if it exceeds `Int64`.
  ///
  /// Such bytes sort after all integers, so unsigned elements of a set are in
  /// numerical order.
  ///
  ///     UInt64.max.fieldValue  // .bytes of eight times 255
  public var fieldValue: Value {
    if let number = Int64(exactly: self) { return .int(number) }
    return .bytes(withUnsafeBytes(of: bigEndian) { Array($0) })
  }

  /// Creates an integer from a stored value, or returns `nil` if it does not
  /// fit.
  public init?(fieldValue value: Value) {
    switch value {
    case .int(let number): self.init(exactly: number)
    case .bytes(let bytes) where bytes.count == Self.bitWidth / 8:
      let number = bytes.reduce(0 as Self) { $0 << 8 | Self($1) }
      // A number has one form. This one must be stored as an integer.
      if Int64(exactly: number) != nil { return nil }
      self = number
    default: return nil
    }
  }
}

extension Int: FieldValue {}
extension Int8: FieldValue {}
extension Int16: FieldValue {}
extension Int32: FieldValue {}
extension Int64: FieldValue {}
extension UInt8: FieldValue {}
extension UInt16: FieldValue {}
extension UInt32: FieldValue {}
extension UInt64: FieldValue {}
extension UInt: FieldValue {}

extension Double: FieldValue {
  public var fieldValue: Value { Value.double(self).canonical }

  public init?(fieldValue value: Value) {
    guard case .double(let number) = value else { return nil }
    self = number
  }
}

extension Float: FieldValue {
  /// The number as a `Double`.
  public var fieldValue: Value { Double(self).fieldValue }

  /// Creates a number from a stored one, or returns `nil` if `Float` cannot
  /// represent it exactly.
  public init?(fieldValue value: Value) {
    guard let number = Double(fieldValue: value) else { return nil }
    self.init(number)
    if Double(self) != number && !number.isNaN { return nil }
  }
}

extension String: FieldValue {
  public var fieldValue: Value { .string(self) }

  public init?(fieldValue value: Value) {
    guard case .string(let text) = value else { return nil }
    self = text
  }
}

extension [UInt8]: FieldValue {
  public var fieldValue: Value { .bytes(self) }

  public init?(fieldValue value: Value) {
    guard case .bytes(let bytes) = value else { return nil }
    self = bytes
  }
}

extension RecordID: FieldValue {
  public var fieldValue: Value { .reference(self) }

  public init?(fieldValue value: Value) {
    guard case .reference(let id) = value else { return nil }
    self = id
  }
}

extension FieldValue where Self: RawRepresentable, RawValue: FieldValue {
  /// The stored form of the raw value.
  public var fieldValue: Value { rawValue.fieldValue }

  /// Creates a value from a stored raw value, or returns `nil` if it is not
  /// valid.
  public init?(fieldValue value: Value) {
    guard let raw = RawValue(fieldValue: value) else { return nil }
    self.init(rawValue: raw)
  }
}
