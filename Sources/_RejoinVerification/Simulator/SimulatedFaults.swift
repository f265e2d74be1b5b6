// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
/// What goes wrong in a simulation, in percent of the occasions.
///
/// Each fault is drawn anew for each seed, and in about half of them it does not
/// happen at all: a fault shows best where not everything else goes wrong too.
struct SimulatedFaults: Hashable {
  /// Messages that do not arrive.
  let losses: Int
  /// Messages that arrive twice or more often.
  let duplicates: Int
  /// Messages that arrive hours or weeks later.
  let delays: Int
  /// Messages that are split.
  let splits: Int
  /// Messages that also reach a device they were not written for.
  let relays: Int
  /// Messages written from a basis that is not the receiver's.
  let wrongBases: Int
  /// Days on which the network falls into two halves.
  let partitions: Int
  /// Devices whose wall clock is not right.
  let wrongClocks: Int
  /// Restores from a backup that are detected.
  let restores: Int
  /// Restores from a backup, and copies of a device, that are not detected.
  let unnoticedRestores: Int
  /// New devices that begin with another's state.
  let clones: Int
  /// Retirements.
  let retirements: Int
  /// Messages of which one half never arrives.
  let lostHalves: Int
  /// Rows of servers, and rows that every device already has.
  let rows: Int
  /// Weeks or months without a device.
  let absences: Int
  /// Purges and folds.
  let housekeeping: Int
  /// Saves that are undone, and redone.
  let undoings: Int
  /// Crashes, after which the device is opened again.
  let crashes: Int

  init(_ random: inout SeededRandom) {
    func weight(_ most: Int) -> Int {
      random.chance(percent: 50) ? 0 : 1 + random.number(below: most)
    }
    losses = weight(40)
    duplicates = weight(40)
    delays = weight(50)
    splits = weight(30)
    relays = weight(30)
    wrongBases = weight(30)
    partitions = weight(60)
    wrongClocks = weight(80)
    restores = weight(25)
    unnoticedRestores = random.chance(percent: 40) ? 0 : weight(25)
    clones = weight(8)
    retirements = weight(6)
    lostHalves = weight(30)
    rows = weight(20)
    absences = weight(20)
    housekeeping = weight(20)
    crashes = weight(20)
    undoings = weight(60)
  }
}
