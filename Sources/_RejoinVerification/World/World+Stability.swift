// SPDX-License-Identifier: Apache-2.0
import Rejoin

// The stability cut: the saves that every device is known to have.
extension World {
  /// Performs a step that may raise the stability cut, and checks the new cut.
  ///
  /// - Parameter shown: The cut that the device receives in this step.
  mutating func checkStability(
    of i: Int, shown: VectorClock = VectorClock(),
    _ body: (inout Replica) throws(ScriptMismatch) -> Void
  ) throws(ScriptMismatch) {
    let before = peers[i].replica.stabilityCut
    try body(&peers[i].replica)
    let cut = peers[i].replica.stabilityCut
    if cut == before { return }
    counts.cuts += 1
    try agree(
      "the cut of \(name(i)) has fallen", before.isContained(in: cut), true)
    guard suspects.isEmpty else { return }
    try agree(
      "the cut is in the clock", cut.isContained(in: peers[i].model.clock),
      true)
    let told = before.merging(shown)
    for (name, holder) in holders(roster: peers[i].model.roster) {
      for entry in cut.entries
      where entry.count > max(told[entry.device], holder[entry.device]) {
        throw ScriptMismatch(
          "\(Dot(entry.device, entry.count)) is not stable: \(name) lacks it")
      }
    }
  }

  /// Returns the clocks of the devices on a roster, except devices that lost
  /// saves or whose ID is used twice.
  private func holders(
    roster: Set<DeviceID>
  ) -> [(name: String, clock: VectorClock)] {
    let names = Dictionary(grouping: peers.indices) { peers[$0].model.device }
    return names.compactMap { device, places in
      guard roster.contains(device), let i = places.first, places.count == 1
      else { return nil }
      let clock = peers[i].model.clock
      let forgotten = forgotten[device] ?? VectorClock()
      return forgotten.isContained(in: clock) ? (name(i), clock) : nil
    }
  }
}
