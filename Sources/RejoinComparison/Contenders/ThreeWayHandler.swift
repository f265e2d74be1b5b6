// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What a careful app does on CloudKit's `serverRecordChanged`, whose error hands
/// it the ancestor, its own copy and the server's: it merges the three by kind.
///
/// Counters and sets by difference; of a register that both sides have changed,
/// the client's value stays, and the server's is listed. A device sends what it
/// has changed offline as one save. A native deletion takes an ID and no tag, and
/// is never refused: so the app fetches first, and keeps a record that has changed
/// on the server. A record that was deleted there is saved again as a whole.
struct ThreeWayHandler: Contender {
  let name = "handler.threeWay"
  let rule =
    "a refused client merges ancestor, its copy and the server's by kind"

  func outcome(of episode: Episode) -> Outcome {
    var kept: [String: Set<Value?>] = [:]
    let server = episode.settled { ancestor, mine, _, server in
      merge(ancestor, mine, server, of: episode, &kept)
    }
    return Outcome(everywhere: server, kept: kept)
  }

  private func merge(
    _ ancestor: PlainRecord, _ mine: PlainRecord, _ server: PlainRecord,
    of episode: Episode, _ kept: inout [String: Set<Value?>]
  ) -> PlainRecord {
    var merged = server
    for field in Set(ancestor.keys).union(mine.keys)
    where mine[field] != ancestor[field] {
      switch episode.kind(of: field) {
      case .counter:
        let change = mine.count(field).addingClamped(
          0 &- ancestor.count(field))
        merged[field] = .count(server.count(field).addingClamped(change))
      case .set:
        let (before, now) = (ancestor.elements(field), mine.elements(field))
        let elements = server.elements(field)
          .subtracting(before.subtracting(now))
          .union(now.subtracting(before))
        merged[field] = .elements(elements)
      default:
        if server[field] != ancestor[field], server[field] != mine[field] {
          kept[field, default: []].insert(server.value(field))
        }
        merged[field] = mine[field]
      }
    }
    return merged
  }
}
