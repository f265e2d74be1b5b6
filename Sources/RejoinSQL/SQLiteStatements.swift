// SPDX-License-Identifier: Apache-2.0

/// The prepared statements of a connection, up to a fixed number.
///
/// A running statement is not in this collection. The same text can therefore
/// run again while its rows are read.
struct SQLiteStatements {
  /// The maximum number of statements, of which a store has about 20.
  private static let limit = 100

  /// By the bytes of their texts: equal strings can have different bytes.
  private var kept: [[UInt8]: (statement: OpaquePointer, use: UInt64)] = [:]
  private var uses: UInt64 = 0

  /// Removes and returns the statement of a text.
  mutating func take(_ sql: String) -> OpaquePointer? {
    kept.removeValue(forKey: Array(sql.utf8))?.statement
  }

  /// Keeps a statement after it has run.
  ///
  /// - Returns: A statement that is no longer kept and must be finalized.
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
