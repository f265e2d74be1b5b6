// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

@testable import RejoinComparison

extension Workload {
  /// The episodes that the command generates.
  func generate() -> [Episode] { generate(using: SeededRandom.init(seed:)) }
}

extension Episode {
  /// An episode with an edit per entry, a millisecond apart.
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

  /// The losses if the episode ends with `state`.
  func losses(
    _ state: PlainRecord?, kept: [String: Set<Value?>] = [:],
    reported: [String: Set<Value?>] = [:]
  ) -> Losses {
    Oracle(self).verdict(
      on: Outcome(states: [state], kept: kept, reported: reported)
    ).losses
  }
}

extension Losses {
  init(
    excess: Int = 0, reported: Int = 0, unrecoverable: Int = 0,
    counterUnits: Int = 0, counters: Int? = nil, addsLost: Int = 0,
    removesUndone: Int = 0, recordsWrong: Int = 0, neverAgree: Int = 0
  ) {
    self.init()
    self.reported = reported
    self.counters = counters ?? (counterUnits > 0 ? 1 : 0)
    self.excess = excess
    self.unrecoverable = unrecoverable
    self.counterUnits = counterUnits
    self.addsLost = addsLost
    self.removesUndone = removesUndone
    self.recordsWrong = recordsWrong
    self.neverAgree = neverAgree
    sumUp()
  }
}
