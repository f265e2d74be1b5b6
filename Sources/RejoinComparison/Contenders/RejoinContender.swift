// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// This library, with a replica per device and a save per edit.
///
/// Every device imports the base, as an app does with its existing rows. Each
/// edit is saved at the time of its device's clock. Then the devices exchange
/// deltas in the order of arrival until no device lacks changes.
struct RejoinContender: Contender {
  var name: String { deletion == .updateWins ? "rejoin" : "rejoin.deleteWins" }
  var rule: String {
    "a write supersedes what its author had seen, and concurrent writes are kept"
      + (deletion == .updateWins ? "" : "; a deletion wins")
  }
  let source = Source.library
  /// The rule for a deletion on one device and a concurrent edit on another.
  var deletion = DeletionRule.updateWins

  /// A closure that carries a delta to another device, or loses it by returning
  /// `nil`.
  ///
  /// A test of the oracle damages deltas here and must observe losses.
  var transmit: @Sendable (Delta) -> Delta? = { $0 }

  func outcome(of episode: Episode) throws -> Outcome {
    var team = try RejoinTeam(episode, deletion: deletion)
    for upload in episode.uploads { try team.save(upload.edit) }
    let late = team.repeatedDeltas
    team.exchange(transmit)
    team.repeatArrivals(late)
    return team.outcome
  }
}
