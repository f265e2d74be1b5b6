//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// A Swift type whose values fields can hold.
///
/// The conversion must be faithful: two values are the same exactly when their
/// ``Value``s are. A `RawRepresentable` type conforms by saying so:
///
///     enum Colour: String, FieldValue { case red, green }
public protocol FieldValue: Sendable {
  /// The value as it is stored.
  var fieldValue: Value { get }

  /// Creates a value from what is stored.
  ///
  /// - Returns: `nil` if something else is stored, for example by a newer version
  ///   of the app.
  init?(_ value: Value)
}

extension Value: FieldValue {
  /// The value itself.
  public var fieldValue: Value { self }

  /// Creates the value itself.
  public init(_ value: Value) { self = value }
}

extension Bool: FieldValue {
  public var fieldValue: Value { .bool(self) }

  public init?(_ value: Value) {
    guard case .bool(let flag) = value else { return nil }
    self = flag
  }
}

extension FieldValue where Self: FixedWidthInteger {
  /// The integer.
  public var fieldValue: Value { .int(Int64(self)) }

  /// Creates the integer, if it is one and fits.
  public init?(_ value: Value) {
    guard case .int(let number) = value else { return nil }
    self.init(exactly: number)
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

extension Double: FieldValue {
  public var fieldValue: Value { .double(self) }

  public init?(_ value: Value) {
    guard case .double(let number) = value else { return nil }
    self = number
  }
}

extension String: FieldValue {
  public var fieldValue: Value { .string(self) }

  public init?(_ value: Value) {
    guard case .string(let text) = value else { return nil }
    self = text
  }
}

extension [UInt8]: FieldValue {
  public var fieldValue: Value { .bytes(self) }

  public init?(_ value: Value) {
    guard case .bytes(let bytes) = value else { return nil }
    self = bytes
  }
}

extension RecordID: FieldValue {
  public var fieldValue: Value { .reference(self) }

  public init?(_ value: Value) {
    guard case .reference(let id) = value else { return nil }
    self = id
  }
}

extension Optional: FieldValue where Wrapped: FieldValue {
  /// The wrapped value, or an explicit null.
  public var fieldValue: Value { self?.fieldValue ?? .null }

  public init?(_ value: Value) {
    if value == .null {
      self = nil
    } else if let wrapped = Wrapped(value) {
      self = .some(wrapped)
    } else {
      return nil
    }
  }
}

extension FieldValue where Self: RawRepresentable, RawValue: FieldValue {
  /// The raw value, as it is stored.
  public var fieldValue: Value { rawValue.fieldValue }

  /// Creates the case with the stored raw value, if there is one.
  public init?(_ value: Value) {
    guard let raw = RawValue(value) else { return nil }
    self.init(rawValue: raw)
  }
}
