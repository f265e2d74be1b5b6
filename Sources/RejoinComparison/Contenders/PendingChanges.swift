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
    "a queue holds whole records: if the server's record changed, it stays, and "
    + "the queued copy stays pending and is listed"
  let source = Source.guide

  func outcome(of episode: Episode) -> Outcome {
    var kept: [String: Set<Content?>] = [:]
    let server = episode.settled { ancestor, mine, _, server in
      if server == ancestor { return mine }
      for field in episode.changedFields {
        kept[field, default: []].insert(mine[field])
      }
      return server
    }
    return Outcome(everywhere: server, kept: kept)
  }
}
