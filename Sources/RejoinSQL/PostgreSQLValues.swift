// SPDX-License-Identifier: Apache-2.0

// The values, rows and error codes of PostgreSQL.

extension SQLValue {
  /// The type's number in PostgreSQL, or zero if the server must infer the
  /// type.
  var type: UInt32 {
    switch self {
    case .null: 0
    case .integer: 20
    case .double: 701
    case .text: 25
    case .bytes: 17
    }
  }

  /// The bytes to send, or `nil` for NULL.
  var content: [UInt8]? {
    switch self {
    case .null: nil
    case .integer(let number): withUnsafeBytes(of: number.bigEndian, Array.init)
    case .double(let number):
      withUnsafeBytes(of: number.bitPattern.bigEndian, Array.init)
    case .text(let text): Array(text.utf8)
    case .bytes(let bytes): bytes
    }
  }
}

/// The current row of a result.
///
/// One object serves all rows.
final class PostgreSQLRow: SQLRow {
  private let library: PostgreSQLLibrary
  private let result: OpaquePointer?
  var row: Int32 = 0

  init(_ library: PostgreSQLLibrary, _ result: OpaquePointer?) {
    (self.library, self.result) = (library, result)
  }

  func value(_ column: Int) -> SQLValue {
    if library.isNull(result, row, Int32(column)) != 0 { return .null }
    switch library.type(result, Int32(column)) {
    // BIGINT, SMALLINT, INTEGER.
    case 20, 21, 23: return .integer(integer(column))
    // REAL and DOUBLE PRECISION.
    case 700:
      return .double(
        Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits(column)))))
    case 701: return .double(Double(bitPattern: bits(column)))
    // TEXT, VARCHAR, CHAR, NAME.
    case 25, 1043, 1042, 19:
      return .text(String(decoding: bytes(column), as: UTF8.self))
    default: return .bytes(bytes(column))
    }
  }

  func integer(_ column: Int) -> Int64 {
    withBytes(column) { bytes in
      bytes.count > 8
        ? 0
        // Extend the sign, because shorter types are also signed.
        : bytes.dropFirst().reduce(
          Int64(bytes.first.map { Int8(bitPattern: $0) } ?? 0)
        ) { $0 << 8 | Int64($1) }
    }
  }

  func withBytes<Value>(
    _ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Value
  ) rethrows -> Value {
    let start = library.value(result, row, Int32(column))
    let count = library.length(result, row, Int32(column))
    return try body(
      UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(count))
    )
  }
}

extension SQLError.Code {
  /// Creates a code from a SQLSTATE, whose first two characters are the class.
  init(postgreSQL state: String) {
    self =
      switch state {
      // Serialization failures, deadlocks and unavailable locks.
      case "40001", "40P01", "55P03": .busy
      // Statements that exceeded a time limit or were canceled, and limits of
      // memory, temporary files and the configuration.
      case "57014", "53000", "53200", "53400": .limitExceeded
      case "53100": .full
      // The values do not fit the parameters of the statement.
      case "08P01": .misused
      case "25006": .readOnly
      case "58030": .inputOutput
      case "XX001", "XX002": .corrupted
      // The server ended the session.
      case "57P01", "57P02", "57P05", "25P03": .disconnected
      case "57P03": .unavailable
      default:
        switch state.prefix(2) {
        case "08": .disconnected
        // Rolled-back transactions, and too many connections.
        case "40": .busy
        case "53": .unavailable
        default: .other(state)
        }
      }
  }

  /// Creates a code from the SQLSTATE of a refused connection.
  init(connecting state: String) {
    switch SQLError.Code(postgreSQL: state) {
    case .unavailable, .busy, .disconnected, .limitExceeded:
      self = .unavailable
    default: self = .cannotOpen
    }
  }
}
