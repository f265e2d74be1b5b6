// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
import _RejoinVerification

/// A type that adds a fault to a replica of the library.
protocol Spoiling {
  static func receipt(_ receipt: MessageReceipt) -> MessageReceipt
  static func claim(_ outline: MessageOutline) -> VectorClock
  static func reading(_ reading: FieldReading) -> FieldReading
  static func parts(_ parts: [Delta]) -> [Delta]
  static func opened(_ state: ReplicaState, _ past: Past) -> ReplicaState
}

/// The state of a device before and after its last delta, which survives a restore.
final class Past {
  var before: ReplicaState?
  var prefixes: [ReplicaVersion.Prefix] = []

  /// Returns a state with the last prefixes of the device that fit the state.
  func withPrefixes(_ state: ReplicaState) -> ReplicaState {
    var state = state
    state.version.prefixes = []
    for prefix in prefixes {
      var version = state.version
      if version.setPrefixes(version.prefixes + [prefix]) {
        state.version = version
      }
    }
    return state
  }
}

extension Spoiling {
  static func receipt(_ receipt: MessageReceipt) -> MessageReceipt { receipt }
  static func claim(_: MessageOutline) -> VectorClock { [:] }
  static func reading(_ reading: FieldReading) -> FieldReading { reading }
  static func parts(_ parts: [Delta]) -> [Delta] { parts }
  static func opened(_ state: ReplicaState, _: Past) -> ReplicaState { state }
}

/// A restored backup does not revert the prefixes.
enum KeptPrefixes: Spoiling {
  static func opened(_ state: ReplicaState, _ past: Past) -> ReplicaState {
    past.withPrefixes(state)
  }
}

/// The app exits after it stores the prefixes and before it stores the records.
enum TornPrefixes: Spoiling {
  static func opened(_ state: ReplicaState, _ past: Past) -> ReplicaState {
    past.before.map(past.withPrefixes) ?? state
  }
}

/// The replica has no fault.
enum Nothing: Spoiling {}

/// Gaps are not reported.
enum ForgottenGaps: Spoiling {
  static func receipt(_ receipt: MessageReceipt) -> MessageReceipt {
    var copy = receipt
    copy.gaps = []
    return copy
  }
}

/// The replica claims the saves up to the end of a delta.
enum ClaimedClocks: Spoiling {
  static func claim(_ outline: MessageOutline) -> VectorClock {
    outline.intervals.reduce(into: VectorClock()) {
      $0.advance(to: Dot($1.key, $1.value.to))
    }
  }
}

/// The least of concurrent values is shown.
enum WrongWinners: Spoiling {
  static func reading(_ reading: FieldReading) -> FieldReading {
    guard let least = reading.conflicts.compactMap(\.self).first,
      let shown = reading.value, least < shown
    else { return reading }
    var copy = reading
    copy.value = least
    return copy
  }
}

/// The second part of a message repeats the first one.
enum LostParts: Spoiling {
  static func parts(_ parts: [Delta]) -> [Delta] {
    parts.map { _ in parts[0] }
  }
}

/// A replica of the library with a fault.
struct SpoiledReplica<How: Spoiling>: TestedReplica {
  private var base: ReplicaUnderTest
  private var claimed = VectorClock()
  private let makeDeviceID: () -> DeviceID
  private let past: Past

  init(device: DeviceID, schema: Schema, makeDeviceID: @escaping () -> DeviceID)
  {
    base = ReplicaUnderTest(
      device: device, schema: schema, makeDeviceID: makeDeviceID)
    (self.makeDeviceID, past) = (makeDeviceID, Past())
  }

  private init(
    _ base: ReplicaUnderTest, _ claimed: VectorClock,
    _ makeDeviceID: @escaping () -> DeviceID, _ past: Past
  ) {
    (self.base, self.claimed) = (base, claimed)
    (self.makeDeviceID, self.past) = (makeDeviceID, past)
  }

  func copy() -> Self { Self(base.copy(), claimed, makeDeviceID, past) }

  func forked(
    as device: DeviceID, makeDeviceID: @escaping () -> DeviceID
  ) -> Self {
    Self(
      base.forked(as: device, makeDeviceID: makeDeviceID), claimed,
      makeDeviceID, Past())
  }

  var device: DeviceID { base.device }
  var version: ReplicaVersion {
    claimed.entries.reduce(into: base.version) { clock, entry in
      let claim = ReplicaVersion(claimed)[entry.device]
      clock.insert(claim, of: entry.device)
    }
  }
  var contents: [UInt8] { base.contents }
  var storedBytes: [UInt8] { base.storedBytes }
  func exists(_ id: RecordID) -> Bool { base.exists(id) }

  func reading(of location: FieldLocation) -> FieldReading {
    How.reading(base.reading(of: location))
  }

  mutating func save(_ verbs: [ScriptVerb], now: Int64) throws -> Dot? {
    try base.save(verbs, now: now)
  }

  func fetch(_ id: RecordID) -> Record { base.fetch(id) }

  mutating func save(
    _ edits: [FieldKey: FieldEdit], of id: RecordID, shown: Record,
    with company: ScriptCompany, now: Int64
  ) throws -> Dot? {
    try base.save(edits, of: id, shown: shown, with: company, now: now)
  }

  func message(since basis: ReplicaVersion) -> Delta? {
    base.message(since: basis)
  }

  func part(since basis: ReplicaVersion, byteLimit: Int) -> Delta? {
    base.part(since: basis, byteLimit: byteLimit)
  }

  func parts(of message: Delta, count: Int) -> [Delta] {
    How.parts(base.parts(of: message, count: count))
  }

  func outline(of message: Delta) -> MessageOutline {
    base.outline(of: message)
  }

  mutating func apply(_ message: Delta, now: Int64) -> MessageReceipt {
    claimed.merge(How.claim(outline(of: message)))
    past.before = base.replica.state
    defer { past.prefixes = base.replica.state.version.prefixes }
    return How.receipt(base.apply(message, now: now))
  }

  mutating func recordVersion(
    of other: Self, now: Int64
  ) throws(ScriptMismatch) {
    try base.recordVersion(of: other.base, now: now)
  }

  var stabilityCut: VectorClock { base.stabilityCut }
  mutating func purge(now: Int64) throws -> Dot? { try base.purge(now: now) }
  mutating func fold() { base.fold() }

  var ownDevices: Set<DeviceID>? { base.ownDevices }
  var restoreToken: RestoreToken { base.restoreToken }

  mutating func confirmTokenStored(_ token: RestoreToken) -> Bool {
    base.confirmTokenStored(token)
  }

  mutating func reopen(
    with token: RestoreToken?, now: Int64
  ) throws(ScriptMismatch) {
    try base.reopen(with: token, now: now)
    let replica = Replica(
      resuming: How.opened(base.replica.state, past),
      schema: base.replica.schema, wallClock: ManualClock(now).wallClock,
      makeDeviceID: makeDeviceID)
    base = ReplicaUnderTest(
      driving: replica, hand: ManualClock(now), makeDeviceID: makeDeviceID)
  }

  mutating func delete(
    _ id: RecordID, shown: Record, with company: ScriptCompany, now: Int64
  ) throws -> Dot? {
    try base.delete(id, shown: shown, with: company, now: now)
  }

  mutating func bringIn(_ rows: [ScriptVerb], now: Int64) throws -> Dot? {
    try base.bringIn(rows, now: now)
  }

  mutating func pull(
    _ rows: [ScriptVerb], from server: String, modifiedAt time: Int64,
    now: Int64
  ) throws -> Dot? {
    try base.pull(rows, from: server, modifiedAt: time, now: now)
  }

  mutating func retire(_ device: DeviceID, now: Int64) throws -> Dot? {
    try base.retire(device, now: now)
  }
}
