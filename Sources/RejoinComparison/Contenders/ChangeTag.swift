// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies

/// A change tag is checked, as CloudKit's `ifServerRecordUnchanged`, and a refused
/// client merges into the server's copy by a merge policy and tries again.
///
/// The policies are the table of ``MergePolicy``, with the server's copy as the
/// store. Counters and sets are plain values like any other. Edits made offline
/// wait in a queue, each with the copy it was made on, and a clean save renews
/// the tag of the next. Whether the record exists is one more field.
///
/// What a policy drops is gone, as it is with Core Data's policies, unless the
/// policy itself keeps it: `error` throws both sides and leaves the edit on its
/// device, unsynced, until somebody acts; `manual` queues it; `merge` and
/// `mergeNonNil` keep the other value beside the one written.
struct ChangeTag: Contender {
  let name: String
  var rule: String { "on a refused save the client merges by \(policy)" }
  let policy: MergePolicy

  /// Creates the strategy for one policy.
  init(_ policy: MergePolicy) {
    self.policy = policy
    name = "changeTag.\(policy)"
  }

  /// One strategy for each policy that has a name.
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
