// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies

/// The server checks a change tag, like CloudKit's `ifServerRecordUnchanged`.
///
/// A refused client merges into the server's copy under a merge policy and
/// tries again.
///
/// The policies are `MergePolicy`'s, with the server's copy as the store.
/// Counters and sets are plain values. Offline edits wait in a queue, each with
/// the copy it was made on, and a successful save renews the tag for the next.
/// The record's existence is one more field.
///
/// What a policy drops is lost, unless the policy keeps it: `error` throws both
/// sides and leaves the edit unsynced on its device until the user acts;
/// `manual` queues it; `merge` keeps the other value beside the one written.
struct ChangeTag: Contender {
  let name: String
  var rule: String { "after a refused save, the client merges by \(policy)" }
  let policy: MergePolicy

  /// Creates the strategy for one policy.
  init(_ policy: MergePolicy) {
    self.policy = policy
    name = "changeTag.\(policy)"
  }

  /// A strategy for each policy, except `lastWriteWins`, for which a plain
  /// record has no timestamps, and `custom`.
  static let all: [ChangeTag] = [
    ChangeTag(.error), ChangeTag(.mergeByPropertyStoreTrump),
    ChangeTag(.mergeByPropertyObjectTrump), ChangeTag(.overwrite),
    ChangeTag(.rollback), ChangeTag(.mergeNonNil), ChangeTag(.serverWins),
    ChangeTag(.merge), ChangeTag(.manual),
  ]

  func outcome(of episode: Episode) -> Outcome {
    var server = ChangeTagServer(policy, episode)
    for upload in episode.uploads { server.receive(upload) }
    server.finish()
    if server.stuck.isEmpty {
      return Outcome(everywhere: server.record, kept: server.kept)
    }
    let states = episode.devices.map { server.stuck[$0] ?? server.record }
    return Outcome(states: states, kept: server.kept)
  }
}
