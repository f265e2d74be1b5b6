// SPDX-License-Identifier: Apache-2.0

/// A value in a statement or in a column.
public enum SQLValue: Hashable, Sendable {
  /// A null value.
  case null
  /// An integer.
  case integer(Int64)
  /// A floating-point number.
  case double(Double)
  /// A text.
  ///
  /// It equals a text literal in SQL: `title = 'Bread'` finds it.
  case text(String)
  /// Bytes.
  case bytes([UInt8])

  /// Returns the integer with the bit pattern of `number`.
  public static func bits(_ number: UInt64) -> SQLValue {
    .integer(Int64(bitPattern: number))
  }

  /// Returns the UTF-8 bytes of a text, for a column that stores text as bytes.
  package static func utf8(_ text: String) -> SQLValue {
    .bytes(Array(text.utf8))
  }
}

/// A row of a result.
public protocol SQLRow {
  /// Returns the value in a column, with the type that the database reports.
  ///
  /// If ``SQLValue`` has no case for the type, the result contains the bytes
  /// that the database sends.
  func value(_ column: Int) -> SQLValue

  /// Returns the integer in a column, or zero for a null value.
  ///
  /// If the value has another type, the result depends on the database.
  func integer(_ column: Int) -> Int64

  /// Calls `body` with the bytes in a column.
  ///
  /// If the column has no value, `body` receives an empty buffer.
  func withBytes<Value>(
    _ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Value
  ) rethrows -> Value
}

extension SQLRow {
  /// Returns the text in a column, or `nil` if the value has another type.
  public func text(_ column: Int) -> String? {
    if case .text(let text) = value(column) { text } else { nil }
  }

  /// Returns the number in a column, or `nil` if the value is not a number.
  ///
  /// The number may be an integer.
  public func double(_ column: Int) -> Double? {
    switch value(column) {
    case .double(let number): number
    case .integer(let number): Double(number)
    default: nil
    }
  }

  /// Returns the integer in a column as a bit pattern.
  public func bits(_ column: Int) -> UInt64 {
    UInt64(bitPattern: integer(column))
  }

  /// Returns the bytes in a column.
  public func bytes(_ column: Int) -> [UInt8] {
    withBytes(column) { Array($0) }
  }
}
