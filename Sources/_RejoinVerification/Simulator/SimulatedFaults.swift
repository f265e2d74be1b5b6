// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
/// The probabilities of faults in a simulation, in percent.
///
/// Each seed draws its own probabilities. About half of them are zero, because
/// a fault is easier to detect without too many others.
struct SimulatedFaults: Hashable {
  /// Messages that are lost.
  let losses: Int
  /// Messages that arrive repeatedly.
  let duplicates: Int
  /// Messages that arrive hours or weeks later.
  let delays: Int
  /// Messages that are split.
  let splits: Int
  /// Messages that also reach an unintended device.
  let relays: Int
  /// Messages with a basis other than the receiver's version.
  let wrongBases: Int
  /// Days with a network that is split into two halves.
  let partitions: Int
  /// Devices with a wrong wall clock.
  let wrongClocks: Int
  /// Restores from a backup that the device detects.
  let restores: Int
  /// Restores from a backup, and copies of a device, that the device doesn't
  /// detect.
  let unnoticedRestores: Int
  /// New devices that start with the state of another device.
  let clones: Int
  /// Retirements.
  let retirements: Int
  /// Split messages that lose one half.
  let lostHalves: Int
  /// Imports of a server's rows, and of rows that every device already has.
  let rows: Int
  /// Absences of a device for weeks or months.
  let absences: Int
  /// Purges and folds.
  let housekeeping: Int
  /// Saves that are undone or redone.
  let undoings: Int
  /// Crashes and reopenings of a device.
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
