// SPDX-License-Identifier: Apache-2.0

/// The statements that a connection has prepared, as many as are worth their
/// memory.
///
/// A statement that runs is not here, so that the same text can be run while its
/// rows are read.
struct SQLiteStatements {
  /// How many are kept; a store has about twenty of its own.
  private static let limit = 100

  private var kept: [String: (statement: OpaquePointer, use: UInt64)] = [:]
  private var uses: UInt64 = 0

  /// Takes out the statement of a text.
  mutating func take(_ sql: String) -> OpaquePointer? {
    kept.removeValue(forKey: sql)?.statement
  }

  /// Keeps a statement that has run.
  ///
  /// - Returns: One that is kept no longer, to be finalized.
  mutating func keep(
    _ statement: OpaquePointer, of sql: String
  ) -> OpaquePointer? {
    uses += 1
    let other = kept.updateValue((statement, uses), forKey: sql)?.statement
    guard other == nil, kept.count > SQLiteStatements.limit else {
      return other
    }
    let last = kept.min { $0.value.use < $1.value.use }
    return last.flatMap { take($0.key) }
  }

  /// Takes out all of them.
  mutating func takeAll() -> [OpaquePointer] {
    defer { kept = [:] }
    return kept.values.map(\.statement)
  }
}
