// SPDX-License-Identifier: Apache-2.0

/// A value of a statement, or of a column.
public enum SQLValue: Hashable, Sendable {
  /// No value.
  case null
  /// An integer.
  case integer(Int64)
  /// A number with a fraction.
  case double(Double)
  /// A text, which a database compares as one: `title = 'Bread'` finds it.
  case text(String)
  /// Bytes.
  case bytes([UInt8])

  /// The bit pattern of an integer.
  public static func bits(_ number: UInt64) -> SQLValue {
    .integer(Int64(bitPattern: number))
  }

  /// The bytes of a text, for a column that keeps texts as bytes.
  package static func utf8(_ text: String) -> SQLValue {
    .bytes(Array(text.utf8))
  }
}

/// A row of a result.
public protocol SQLRow {
  /// The value in a column, of the kind that the database has there.
  ///
  /// A kind that ``SQLValue`` does not have is given as the bytes that the database
  /// sends.
  func value(_ column: Int) -> SQLValue

  /// The integer in a column; zero if there is none.
  func integer(_ column: Int) -> Int64

  /// Calls `body` with the bytes in a column, which has none if it is absent.
  func withBytes<Value>(
    _ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Value
  ) rethrows -> Value
}

extension SQLRow {
  /// The text in a column; `nil` if it has something else.
  public func text(_ column: Int) -> String? {
    if case .text(let text) = value(column) { text } else { nil }
  }

  /// The number in a column, an integer or not; `nil` if it has something else.
  public func double(_ column: Int) -> Double? {
    switch value(column) {
    case .double(let number): number
    case .integer(let number): Double(number)
    default: nil
    }
  }

  /// The integer in a column, as a bit pattern.
  public func bits(_ column: Int) -> UInt64 {
    UInt64(bitPattern: integer(column))
  }

  /// The bytes in a column.
  public func bytes(_ column: Int) -> [UInt8] {
    withBytes(column) { Array($0) }
  }
}
