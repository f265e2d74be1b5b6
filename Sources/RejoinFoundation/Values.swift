// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Rejoin

extension Date: FieldValue {
  /// The moment, rounded to microseconds since 1970.
  ///
  /// A date that you read from a field equals the one that you wrote only within a
  /// microsecond, because `Date` has more digits. Two reads of one value are equal.
  /// To compare a date with a field, compare their stored forms:
  ///
  ///     note.due?.fieldValue == date.fieldValue
  ///
  /// A date more than about 292,000 years away does not fit into 64 bits and
  /// becomes the nearest date that fits.
  public var fieldValue: Value {
    let microseconds = (timeIntervalSince1970 * 1_000_000).rounded()
    if let exact = Int64(exactly: microseconds) { return .date(exact) }
    return .date(microseconds > 0 ? .max : .min)
  }

  /// Creates a date from a stored date.
  public init?(fieldValue value: Value) {
    guard case .date(let microseconds) = value else { return nil }
    self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000)
  }
}

extension UUID: FieldValue {
  /// The 16 bytes of the UUID.
  public var fieldValue: Value {
    .bytes(withUnsafeBytes(of: uuid) { Array($0) })
  }

  /// Creates a UUID from 16 stored bytes.
  public init?(fieldValue value: Value) {
    guard case .bytes(let bytes) = value, bytes.count == 16 else { return nil }
    self.init(
      uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
  }
}

extension Data: FieldValue {
  /// The bytes of the data.
  public var fieldValue: Value { .bytes(Array(self)) }

  /// Creates data from stored bytes.
  public init?(fieldValue value: Value) {
    guard case .bytes(let bytes) = value else { return nil }
    self.init(bytes)
  }
}

extension URL: FieldValue {
  /// The absolute string of the URL, without a separate base URL.
  public var fieldValue: Value { .string(absoluteString) }

  /// Creates a URL from a stored string, or returns `nil` if it is not a URL.
  public init?(fieldValue value: Value) {
    guard case .string(let text) = value, let url = URL(string: text) else {
      return nil
    }
    self = url
  }
}

extension Decimal: FieldValue {
  /// The shortest text of the number, which is the same for equal numbers.
  ///
  ///     Decimal(string: "1.50")?.fieldValue  // "1.5"
  public var fieldValue: Value { .string(description) }

  /// Creates a number from its shortest text.
  public init?(fieldValue value: Value) {
    guard case .string(let text) = value,
      let number = Decimal(string: text, locale: Locale(identifier: "POSIX")),
      number.description == text
    else { return nil }
    self = number
  }
}

/// A field value of any `Codable` type.
///
/// The value is written as a whole, so concurrent writes to different members
/// conflict. Use separate fields for members that people edit independently.
///
///     let address = register("address", of: Coded<Address>.self)
///     ada.address = Coded(Address(street: "12 Elm", city: "Paris"))
///
/// If your module isolates its types to the main actor by default, declare the
/// type as `nonisolated`.
public struct Coded<Content: Codable & Hashable & Sendable>: FieldValue,
  Hashable
{
  /// The value of the field.
  public var content: Content

  /// Wraps a value.
  public init(_ content: Content) { self.content = content }

  /// The value as JSON, so that equal values have equal bytes.
  ///
  /// Keys are sorted. The elements of a `Set` are sorted by their bytes, and so
  /// are those of a dictionary whose keys are not keys in JSON. If the
  /// `encode(to:)` of a type calls
  /// that of a set, the set is not sorted: encode it in a container instead.
  ///
  /// A value that cannot be encoded, such as an infinite number, becomes
  /// `null`.
  public var fieldValue: Value {
    guard let data = try? JSONEncoder().encodeSorted(content) else {
      return .null
    }
    return .bytes(Array(data))
  }

  /// Decodes a value from stored JSON.
  public init?(fieldValue value: Value) {
    guard case .bytes(let bytes) = value,
      let content = try? JSONDecoder().decode(Content.self, from: Data(bytes))
    else { return nil }
    self.content = content
  }
}
