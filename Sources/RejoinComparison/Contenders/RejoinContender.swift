// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// This library, with a replica per device and a save per edit.
///
/// Every device imports the base, as an app does with its existing rows. Each
/// edit is saved at the time of its device's clock. Then the devices exchange
/// deltas, in the order of arrival, until none has unseen changes.
struct RejoinContender: Contender {
  let name = "rejoin"
  let rule =
    "a write supersedes what its author had seen; concurrent ones are kept"

  /// Carries a delta from one device to another; `nil` loses it.
  ///
  /// A test of the oracle damages deltas here, and must see losses.
  var transmit: @Sendable (Delta) -> Delta? = { $0 }

  func outcome(of episode: Episode) throws -> Outcome {
    var team = try RejoinTeam(episode)
    for upload in episode.uploads { try team.save(upload.edit) }
    team.exchange(transmit)
    return team.outcome
  }
}
