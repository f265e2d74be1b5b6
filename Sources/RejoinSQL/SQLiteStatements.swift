// SPDX-License-Identifier: Apache-2.0

/// The prepared statements of a connection, up to a fixed number.
///
/// This collection does not contain running statements. The same text can
/// therefore run again while a closure reads its rows.
struct SQLiteStatements {
  /// The maximum number of statements. (A store uses about 20.)
  private static let limit = 100

  /// The statements by the bytes of their texts, because equal strings can have
  /// different bytes.
  private var kept: [[UInt8]: (statement: OpaquePointer, use: UInt64)] = [:]
  private var uses: UInt64 = 0

  /// Removes and returns the statement with a text.
  mutating func take(_ sql: String) -> OpaquePointer? {
    kept.removeValue(forKey: Array(sql.utf8))?.statement
  }

  /// Keeps a statement after a run.
  ///
  /// - Returns: A removed statement to finalize, or `nil`.
  mutating func keep(
    _ statement: OpaquePointer, of sql: String
  ) -> OpaquePointer? {
    uses += 1
    let other = kept.updateValue((statement, uses), forKey: Array(sql.utf8))?
      .statement
    guard other == nil, kept.count > SQLiteStatements.limit else {
      return other
    }
    let last = kept.min { $0.value.use < $1.value.use }
    return last.flatMap { kept.removeValue(forKey: $0.key)?.statement }
  }

  /// Removes and returns all statements.
  mutating func takeAll() -> [OpaquePointer] {
    defer { kept = [:] }
    return kept.values.map(\.statement)
  }
}
