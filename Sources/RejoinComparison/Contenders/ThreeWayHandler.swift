// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A careful app that handles CloudKit's `serverRecordChanged` with a three-way
/// merge.
///
/// The error contains the ancestor, the app's own copy and the server's. The
/// app merges counters and sets by difference. If both sides wrote a register,
/// the client's value stays, and the server's is listed. Clearing a field is a
/// write. A device sends its offline changes as one save.
///
/// A native deletion takes an ID and no tag, so the server never refuses it.
/// The app therefore fetches first and keeps a record that changed on the
/// server. If the record was deleted there, the app saves its whole copy again.
///
/// CloudKit's documentation makes this handler possible. For Apple's own
/// sample, see ``SyncEngineSample``.
struct ThreeWayHandler: Contender {
  let name = "handler.threeWay"
  let rule =
    "a refused client merges ancestor, its copy and the server's by kind"
  let source = Source.apple("CKError.Code.serverRecordChanged")

  func outcome(of episode: Episode) -> Outcome {
    var kept: [String: Set<Content?>] = [:]
    let server = episode.settled { ancestor, mine, uploads, server in
      let written = uploads.reduce(into: Set()) {
        $0.formUnion($1.changes.keys)
      }
      return merge(ancestor, mine, server, written, of: episode, &kept)
    }
    return Outcome(everywhere: server, kept: kept)
  }

  private func merge(
    _ ancestor: PlainRecord, _ mine: PlainRecord, _ server: PlainRecord,
    _ written: Set<String>, of episode: Episode,
    _ kept: inout [String: Set<Content?>]
  ) -> PlainRecord {
    var merged = server
    for field in written {
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
          kept[field, default: []].insert(server[field])
        }
        merged[field] = mine[field]
      }
    }
    return merged
  }
}
