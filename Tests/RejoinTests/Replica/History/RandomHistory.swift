//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

@testable import Rejoin

/// Devices that save, talk, fail and come back at random, each followed by the
/// oracle.
struct RandomHistory {
  let seed: UInt64
  var random: HistoryRandom
  let history = OracleHistory(schema: HistoryUniverse.schema)
  var peers: [HistoryPeer] = []
  var messages: [HistoryMessage] = []
  var backups: [HistoryBackup] = []
  var clocks: [ReplicaClock] = [ReplicaClock()]
  var steps: [String] = []
  private var devices: UInt64 = 0

  init(seed: UInt64) {
    self.seed = seed
    random = HistoryRandom(seed: seed)
    for _ in 0...(1 + random.below(3)) { addPeer() }
  }

  private mutating func addPeer() {
    let device = newDevice()
    let clock = HandSetClock(1_000_000 + Int64(random.below(8)) * 3_600_000)
    peers.append(
      HistoryPeer(
        clock: clock,
        replica: Replica(
          device: device, schema: history.schema, clock: clock.wall),
        model: OracleReplica(device, history: history)))
  }

  /// A device that is new; its bytes are in no order with those before.
  mutating func newDevice() -> DeviceID {
    devices += 1
    return DeviceID(high: UInt64(random.below(200)), low: devices)
  }

  /// Runs the history and tells the first mismatch, with how to repeat it.
  mutating func run(steps count: Int) -> String? {
    do throws(HistoryMismatch) {
      for _ in 0..<count { try step() }
      try settle()
      return nil
    } catch {
      return "seed \(seed), \(error.what)\n"
        + steps.enumerated().map { "\($0): \($1)" }.joined(separator: "\n")
    }
  }

  private mutating func step() throws(HistoryMismatch) {
    let i = random.below(peers.count)
    let own = peers[i].replica.clock[peers[i].replica.device].n
    let device = peers[i].replica.device
    switch random.below(100) {
    case ..<36: try save(i)
    case ..<50: try send(from: i)
    case ..<60: try write(from: i)
    case ..<74: try deliver(to: i)
    case ..<80: try merge(i)
    case ..<84: backUp(i)
    case ..<86: restore(i)
    case ..<89: reopen(i)
    case ..<91: fork(i)
    case ..<96: turnClock(i)
    case ..<98: try purge(i)
    default: fold(i)
    }
    try peers[i].check()
    if peers[i].replica.device == device,
      peers[i].replica.clock[device].n < own
    {
      throw HistoryMismatch(what: "law 11: our own number has fallen")
    }
    try checkLaws()
  }
}
