// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies

/// This library, with an editing context under a merge policy on each device.
///
/// Edits made offline wait in the context. When the saves of other devices
/// arrive, the context saves, and the policy decides which edits become writes.
/// Replicas only join. Under `error`, the edits stay in the context until the
/// user acts.
struct RejoinInContexts: Contender {
  let name: String
  var rule: String {
    "a context saves next to what arrived, under the policy \(policy)"
  }
  let source = Source.library
  let policy: MergePolicy

  /// Creates the strategy for one policy.
  init(_ policy: MergePolicy) {
    self.policy = policy
    name = "rejoin + \(policy)"
  }

  /// A strategy for each policy except `custom`.
  static let all: [RejoinInContexts] = [
    MergePolicy.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump,
    .overwrite, .rollback, .mergeNonNil, .serverWins, .lastWriteWins, .merge,
    .manual,
  ].map(RejoinInContexts.init)

  func outcome(of episode: Episode) throws -> Outcome {
    var team = try RejoinTeam(episode, policy: policy)
    for upload in episode.uploads { team.edit(upload.edit) }
    for device in episode.devices {
      try team.saveContext(of: device)
      team.exchange { $0 }
    }
    return team.outcome
  }
}
