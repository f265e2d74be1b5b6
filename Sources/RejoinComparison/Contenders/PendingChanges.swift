// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Local changes wait beside the server's copy, and what cannot be applied goes to
/// a list of conflicts.
///
/// On sync a device applies the fields it changed where the server's are as they
/// were when fetched. Where both changed, the server's content stays and the
/// device's own waits in the list. A deletion waits there too if anything
/// changed meanwhile; a record that others deleted is saved again.
struct PendingChanges: Contender {
  let name = "pendingChanges"
  let rule =
    "where both sides changed a field the server's stays, mine is listed"

  func outcome(of episode: Episode) -> Outcome {
    var server = episode.base
    var kept: [String: Set<Value?>] = [:]
    let uploads = Dictionary(grouping: episode.uploads, by: \.device)
    for device in episode.devices {
      guard let mine = uploads[device], let last = mine.last else { continue }
      let base = episode.copy(of: device)
      guard let copy = last.after else {
        if server == episode.base { server = nil }
        continue
      }
      guard var record = server ?? (base == nil ? [:] : nil) else {
        server = copy
        continue
      }
      for field in Set(mine.flatMap(\.changes.keys)) {
        if record[field] == base?[field] {
          record[field] = copy[field]
        } else if record[field] != copy[field] {
          kept[field, default: []].insert(copy.value(field))
        }
      }
      server = record
    }
    return Outcome(everywhere: server, kept: kept)
  }
}
