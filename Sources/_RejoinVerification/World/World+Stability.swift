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
    try checkCausality(of: cut.saves(beyond: before), at: i)
    let known = before.merging(shown)
    for (name, holder) in holders(roster: peers[i].model.roster) {
      for entry in cut.entries
      where entry.count > max(known[entry.device], holder[entry.device]) {
        throw ScriptMismatch(
          "\(Dot(entry.device, entry.count)) is not stable: \(name) lacks it")
      }
    }
  }

  /// Checks that the author of each save that a device lacks had seen the saves
  /// that became stable.
  ///
  /// Otherwise, a purge could drop what such a save keeps. The check is about the
  /// saves and pulls of devices since each of them knew the others.
  private func checkCausality(
    of stable: VectorClock, at i: Int
  ) throws(ScriptMismatch) {
    guard let introduction, !isMisled else { return }
    let stable = stable.saves(beyond: introduction.clock)
    let (clock, roster) = (peers[i].model.clock, peers[i].model.roster)
    for j in peers.indices {
      let device = peers[j].model.device
      guard introduction.devices.contains(device), roster.contains(device)
      else { continue }
      for index in peers[j].authored.sorted() {
        let dot = history.saves[index].dot
        guard peers[j].model.ours.contains(dot.device), !clock.contains(dot),
          let seen = authorClocks[index], !stable.isContained(in: seen)
        else { continue }
        throw ScriptMismatch(
          "\(stable) is stable on \(name(i)), which lacks \(dot), and its "
            + "author had not seen it")
      }
    }
  }

  /// Records the first moment when all devices know all devices with saves.
  mutating func recordIntroduction() {
    if introduction != nil { return }
    let devices = Set(peers.map(\.model.device)).filter { device in
      peers.contains { $0.model.clock[device] > 0 }
    }
    guard devices.count > 1,
      peers.allSatisfy({ devices.isSubset(of: $0.model.roster) })
    else { return }
    let clock = peers.reduce(VectorClock()) { $0.merging($1.model.clock) }
    introduction = (devices, clock)
  }

  /// Returns the clocks of the devices on a roster, except devices that lost
  /// saves or whose ID is used twice.
  private func holders(
    roster: Set<DeviceID>
  ) -> [(name: String, clock: VectorClock)] {
    let names = Dictionary(grouping: peers.indices) { peers[$0].model.device }
    return names.compactMap { device, indices in
      guard roster.contains(device), let i = indices.first, indices.count == 1
      else { return nil }
      let clock = peers[i].model.clock
      let forgotten = forgotten[device] ?? VectorClock()
      return forgotten.isContained(in: clock) ? (name(i), clock) : nil
    }
  }
}
