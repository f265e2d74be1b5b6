// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// This library, with a replica per device and a save per edit.
///
/// Every device imports the base, as an app does with its existing rows. Each
/// edit is saved at the time of its device's clock. Then the devices exchange
/// deltas, in the order of arrival, until none has unseen changes.
struct RejoinContender: Contender {
  var name: String { deletion == .updateWins ? "rejoin" : "rejoin.deleteWins" }
  var rule: String {
    "a write supersedes what its author had seen, and concurrent writes are kept"
      + (deletion == .updateWins ? "" : "; a deletion wins")
  }
  let source = Source.library
  /// What wins where one device deletes the record and another edits it.
  var deletion = DeletionRule.updateWins

  /// Carries a delta from one device to another; `nil` loses it.
  ///
  /// A test of the oracle damages deltas here, and must see losses.
  var transmit: @Sendable (Delta) -> Delta? = { $0 }

  func outcome(of episode: Episode) throws -> Outcome {
    var team = try RejoinTeam(episode, deletion: deletion)
    for upload in episode.uploads { try team.save(upload.edit) }
    team.exchange(transmit)
    return team.outcome
  }
}
