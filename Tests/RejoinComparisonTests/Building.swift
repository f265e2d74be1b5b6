// SPDX-License-Identifier: Apache-2.0

import Rejoin

@testable import RejoinComparison

extension Episode {
  /// Creates an episode with an edit for each entry, one millisecond apart.
  init(
    _ base: PlainRecord?, kinds: [String: FieldKind] = [:],
    _ edits: (String, (inout Edit) -> Void)...
  ) {
    self.init(id: "test", base: base, kinds: kinds, edits: [])
    for (place, (device, fill)) in edits.enumerated() {
      var edit = Edit(device, at: Int64(place + 1))
      fill(&edit)
      self.edits.append(edit)
    }
  }

  /// Returns the losses if the episode ends with `state`.
  func losses(
    _ state: PlainRecord?, kept: [String: Set<Content?>] = [:],
    reported: [String: Set<Content?>] = [:],
    _ deletion: DeletionRule = .updateWins
  ) -> [String: Int] {
    Oracle(self, deletion: deletion).verdict(
      on: Outcome(states: [state], kept: kept, reported: reported)
    ).losses.counts
  }

  /// Returns the number of changes that can be lost.
  func changes(_ deletion: DeletionRule = .updateWins) -> Int {
    Oracle(self, deletion: deletion).verdict(on: Outcome(everywhere: base))
      .losses.changes
  }
}

extension Losses {
  /// The counts that are not zero, without the totals.
  var counts: [String: Int] {
    [
      "lost": lost, "reported": reported, "excess": excess, "kept": kept,
      "waiting": waiting, "units": counterUnits, "missing": addsLost,
      "undone": removesUndone, "base": baseValuesLost, "wrong": recordsWrong,
      "disagree": disagreements,
    ].filter { $0.value != 0 }
  }
}
