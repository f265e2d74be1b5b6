//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin

/// Joins a message to a replica in use, which must go on as if nothing had been
/// wrong with the message.
struct ApplyBody {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func check() throws(FuzzFailure) {
    guard let delta = try? Message(decoding: bytes.resealed).delta else {
      return
    }
    let state = LiveHistory.shared.states[0]
    let replica = LiveHistory.open(state)
    let isTaken = replica.apply(delta).keptAside == nil
    try checkAgain(delta, on: replica)
    if isTaken {
      try checkParts(of: delta, on: state, whole: replica)
      try checkOrder(delta, LiveHistory.open(state).delta())
    }
    try LiveChecks(replica).check(saving: delta.changes.prefix(3).map(\.id))
  }

  /// A message that comes twice changes nothing.
  private func checkAgain(
    _ delta: Delta, on replica: Replica
  ) throws(FuzzFailure) {
    let (clock, fields) = (replica.clock, replica.delta())
    replica.apply(delta, reporting: .faults)
    try equal("fields after it came twice", replica.delta(), fields)
    try equal("clock after it came twice", replica.clock, clock)
  }

  /// A message that comes in parts and then whole does what it does at once.
  private func checkParts(
    of delta: Delta, on state: StoredReplica, whole: Replica
  ) throws(FuzzFailure) {
    let other = LiveHistory.open(state)
    for part in delta.split(into: 3).reversed() {
      if other.apply(part).keptAside != nil { return }
    }
    if other.apply(delta).keptAside != nil { return }
    try equal("fields from parts", other.delta(), whole.delta())
    try equal("clock from parts", other.clock, whole.clock)
  }

  /// Two messages do the same in either order.
  private func checkOrder(
    _ delta: Delta, _ other: Delta?
  ) throws(FuzzFailure) {
    guard let other else { return }
    let replicas = [[delta, other], [other, delta]].map { deltas in
      let replica = LiveHistory.empty(DeviceID(8))
      let reports = deltas.map { replica.apply($0) }
      return (replica, reports.allSatisfy { $0.keptAside == nil })
    }
    guard replicas.allSatisfy(\.1) else { return }
    let (a, b) = (replicas[0].0, replicas[1].0)
    try equal("fields in another order", Delta(a.changes), Delta(b.changes))
  }
}

extension Replica {
  /// Every field that travels.
  fileprivate var changes: [Delta.Change] { delta()?.changes ?? [] }
}
