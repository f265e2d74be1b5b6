// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinStore

/// Updates the search table of several articles.
@Sendable func index(
  _ connection: any SQLConnection, _ changes: RecordChanges
) throws {
  for change in changes.changes(to: Note.self) {
    try connection.run("DELETE FROM search WHERE key = $1", .text(change.key))
    guard let title = change.new?.title else { continue }
    try connection.run(
      "INSERT INTO search VALUES ($1, $2)", .text(change.key), .text(title))
  }
}
