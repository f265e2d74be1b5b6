// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A queue of pending local changes, beside the server's copy.
///
/// The queue holds the record as the device has it. If the server's has not changed
/// since it was fetched, mine replaces it. Otherwise the server's stays, and mine is
/// listed as a whole. A deletion in the queue is one more version of the record. A
/// record that was deleted on the server is saved again.
struct PendingChanges: Contender {
  let name = "pendingChanges"
  let rule =
    "if the server's record has changed, it stays, and mine is listed"

  func outcome(of episode: Episode) -> Outcome {
    var kept: [String: Set<Value?>] = [:]
    let server = episode.settled { ancestor, mine, _, server in
      if server == ancestor { return mine }
      for field in episode.changedFields
      where episode.kind(of: field) == .register {
        kept[field, default: []].insert(mine.value(field))
      }
      return server
    }
    return Outcome(everywhere: server, kept: kept)
  }
}
