// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Pending local changes beside the server's copy, with a list of conflicts.
///
/// On sync, a device writes its changed fields, unless the server's content of
/// a field has changed, too. The server's content then stays, and the device's
/// is listed. A deletion is not applied if anything has changed on the server.
/// A record that was deleted on the server is saved again.
struct PendingChanges: Contender {
  let name = "pendingChanges"
  let rule =
    "if both sides changed a field, the server's stays and mine is listed"

  func outcome(of episode: Episode) -> Outcome {
    var kept: [String: Set<Value?>] = [:]
    let server = episode.settled { base, copy, uploads, server in
      var record = server
      for field in Set(uploads.flatMap(\.changes.keys)) {
        if record[field] == base[field] {
          record[field] = copy[field]
        } else if record[field] != copy[field] {
          kept[field, default: []].insert(copy.value(field))
        }
      }
      return record
    }
    return Outcome(everywhere: server, kept: kept)
  }
}
