// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A queue of pending local changes next to the server's copy.
///
/// The queue contains the device's whole record. If the server's record did not
/// change after the device fetched it, the queued record replaces it. Otherwise
/// the server's record stays, and the queued record is listed as a whole. A
/// deletion in the queue counts as another version of the record. If the record
/// was deleted on the server, the device saves it again.
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
