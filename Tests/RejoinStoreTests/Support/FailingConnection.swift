// SPDX-License-Identifier: Apache-2.0

import RejoinSQL

/// A connection that fails some statements.
final class FailingConnection: SQLConnection {
  let connection: SQLiteConnection
  private let failure: (String) -> SQLError?

  init(
    _ connection: SQLiteConnection,
    failing failure: @escaping (String) -> SQLError?
  ) {
    (self.connection, self.failure) = (connection, failure)
  }

  var dialect: SQLDialect { .sqlite }
  var isIdle: Bool { connection.isIdle }

  func run(
    _ sql: String, _ values: [SQLValue], _ body: (any SQLRow) throws -> Void
  ) throws {
    if let error = failure(sql) { throw error }
    try connection.run(sql, values, body)
  }
}
