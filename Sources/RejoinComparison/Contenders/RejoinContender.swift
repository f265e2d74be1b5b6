// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// This library: a replica per device, one save per edit, and real deltas.
///
/// The base is imported on every device, as an app does with the rows it already
/// has. Each edit is saved at the time of its device's clock. Then the devices
/// exchange deltas, in the order of arrival, until nothing is news to anybody.
struct RejoinContender: Contender {
  let name = "rejoin"
  let rule =
    "a write replaces what its author was shown; concurrent ones are kept"

  /// What becomes of a delta on its way, so that a test can damage it and see
  /// the losses.
  var transmit: @Sendable (Delta) -> Delta? = { $0 }

  func outcome(of episode: Episode) throws -> Outcome {
    var team = try RejoinTeam(episode)
    for upload in episode.uploads { try team.save(upload.edit) }
    team.exchange(transmit)
    return team.outcome
  }
}
