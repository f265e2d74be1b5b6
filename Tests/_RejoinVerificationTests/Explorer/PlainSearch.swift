// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import Testing

@testable import _RejoinVerification

/// A search of all steps of a program, without the explorer's shortcuts.
///
/// Each step runs again on copies of the replicas. Two configurations are equal
/// only if all replicas have equal stored bytes.
struct PlainSearch {
  typealias Letter = World<ReplicaUnderTest>.Letter

  struct Device {
    var replica: ReplicaUnderTest
    var model: OracleReplica
  }

  struct Configuration {
    var devices: [Device]
    var made: Set<Int> = []
    var kept: [Letter] = []
  }

  /// The parts that distinguish configurations.
  struct Key<Part: Hashable>: Hashable {
    let parts: [Part]
    let made: Set<Int>
    let kept: [Delta: Int]
  }

  let program: ExplorerProgram
  private var queue: [Configuration] = []
  private var stored: Set<Key<[UInt8]>> = []
  /// The configurations with different knowledge of the oracle.
  private(set) var known: Set<Key<OracleReplica.Knowledge>> = []
  /// The steps from one configuration to another or to itself.
  private(set) var steps = 0

  init(_ program: ExplorerProgram) { self.program = program }

  /// The number of configurations with different stored bytes.
  var storedCount: Int { stored.count }

  /// Visits every configuration, and compares it with the oracle.
  mutating func search() throws(ScriptMismatch) {
    let history = OracleHistory(schema: program.universe.schema)
    let devices = (0..<3).map { i in
      let device = DeviceNames().device(i)
      return Device(
        replica: ReplicaUnderTest(
          device: device, schema: program.universe.schema,
          makeDeviceID: { device }),
        model: OracleReplica(device, history: history))
    }
    try meet(Configuration(devices: devices))
    var place = 0
    while place < queue.count {
      for i in 0..<3 { try expand(queue[place], i) }
      place += 1
    }
  }

  private mutating func meet(
    _ configuration: Configuration
  ) throws(ScriptMismatch) {
    let (made, kept) = (
      configuration.made,
      configuration.kept.reduce(into: [:]) { $0[$1.message, default: 0] += 1 }
    )
    known.insert(
      Key(
        parts: configuration.devices.map(\.model.knowledge), made: made,
        kept: kept))
    let bytes = configuration.devices.map { $0.replica.replica.state.encoded() }
    guard stored.insert(Key(parts: bytes, made: made, kept: kept)).inserted
    else { return }
    for device in configuration.devices {
      try device.replica.check(
        against: device.model, program.universe.records,
        program.universe.fields, named: "\(device.model.device)")
    }
    queue.append(configuration)
  }

  private mutating func step(
    to next: Configuration
  ) throws(ScriptMismatch) {
    steps += 1
    try meet(next)
  }

  /// Takes every next step of device `i`.
  private mutating func expand(
    _ here: Configuration, _ i: Int
  ) throws(ScriptMismatch) {
    try save(here, i)
    for letter in here.kept { try deliver(letter, to: i, here) }
    for j in [nil, 0, 1, 2] as [Int?] where j != i {
      guard let letter = try letter(here, from: i, since: j) else { continue }
      if let j { try deliver(letter, to: j, here) }
      if here.kept.count < program.keptMessages {
        var next = here
        next.kept.append(letter)
        try step(to: next)
      }
    }
  }

  private func letter(
    _ here: Configuration, from i: Int, since j: Int?
  ) throws(ScriptMismatch) -> Letter? {
    try World.letter(
      from: here.devices[i].replica, here.devices[i].model,
      since: j.map { here.devices[$0].replica.version } ?? ReplicaVersion(),
      at: j.map { here.devices[$0].model })
  }

  private mutating func save(
    _ here: Configuration, _ i: Int
  ) throws(ScriptMismatch) {
    for case (let k, .verbs(let verbs)) in program.saves.enumerated()
    where !here.made.contains(k) && program.savers[k].contains(i) {
      for now in program.times {
        var next = here
        let replica = here.devices[i].replica.copy()
        next.devices[i].replica = replica
        guard
          (try? next.devices[i].replica.save(verbs, now: now)) != .some(nil),
          next.devices[i].model.save(verbs, now: now) != nil
        else { continue }
        next.made.insert(k)
        try step(to: next)
      }
    }
  }

  private mutating func deliver(
    _ letter: Letter, to i: Int, _ here: Configuration
  ) throws(ScriptMismatch) {
    var next = here
    next.devices[i].replica = here.devices[i].replica.copy()
    let receipt = next.devices[i].replica.apply(letter.message, now: 0)
    let gaps = next.devices[i].model.apply(letter.model, now: 0).gaps
    try agree("gaps", receipt.gaps, gaps)
    try step(to: next)
  }
}
