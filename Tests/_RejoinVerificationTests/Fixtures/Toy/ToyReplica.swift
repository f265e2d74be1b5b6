// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification

/// A minimal replica, which is sound unless it was created with a hazard.
///
/// It has no ledgers, no retirement and no digests of histories.
struct ToyReplica {
  var device: DeviceID
  let schema: Schema
  let hazard: Hazard?
  var fields: [FieldLocation: ToyField] = [:]
  /// The completely received saves.
  var vector = VectorClock()
  /// The time of each device's last save in the clock.
  var times: [DeviceID: Timestamp] = [:]
  var hybrid = HybridClock()
  /// The saves that other devices are known to hold.
  var acknowledged: [DeviceID: VectorClock] = [:]
  var stabilityCut = VectorClock()
  /// The device that this one replaced, until its first save.
  var predecessor: DeviceID?
  let makeDeviceID: () -> DeviceID

  func exists(_ id: RecordID) -> Bool {
    let isStrict =
      schema[id.entity].deletion == .deleteWins && hazard != .ruleIgnored
    if isStrict {
      let kinds: [ToyMark] =
        hazard == .purgeCountsAsDeletion ? [.dead, .dropped] : [.dead]
      return marks(of: id, kinds).isEmpty && !edits(of: id).isEmpty
    }
    let covers = marks(of: id, [.dead, .dropped])
    return edits(of: id).contains { edit in
      hazard == .deletionsCoverTogether && !covers.isEmpty
        ? !covers.allSatisfy { $0.seen.contains(edit) }
        : !covers.contains { $0.seen.contains(edit) }
    }
  }

  func isDead(_ id: RecordID) -> Bool {
    !marks(of: id, [.dead, .dropped]).isEmpty && !exists(id)
  }

  /// Returns the marks of a record of some kinds, each with the saves that its
  /// author saw.
  func marks(of id: RecordID, _ kinds: [ToyMark]) -> [ToyField.Entry] {
    self[FieldLocation(record: id, field: .existence)].entries.filter { entry in
      kinds.contains { $0.value == entry.value }
    }
  }

  /// Returns whether purges or their announcements below a cut name each
  /// deletion.
  func namesDeletions(of id: RecordID, below cut: VectorClock? = nil) -> Bool {
    let names = marks(of: id, [.final, .dropped]).filter {
      cut?.contains($0.dot) ?? true
    }
    return marks(of: id, [.dead]).allSatisfy { deletion in
      names.contains { $0.seen.contains(deletion.dot) }
    }
  }

  /// Returns the last save of each device in each field of a record, and its
  /// touches.
  private func edits(of id: RecordID) -> [Dot] {
    let existence = self[FieldLocation(record: id, field: .existence)]
    var clocks = locations(of: id).map { self[$0].clock }
    if hazard == .deletionCountsAsEdit { clocks.append(existence.clock) }
    return marks(of: id, [.alive]).map(\.dot)
      + clocks.flatMap(\.entries).map { Dot($0.device, $0.count) }
  }

  /// Returns the saves that touched a record.
  func clock(of id: RecordID) -> VectorClock {
    locations(of: id).reduce(
      into: self[FieldLocation(record: id, field: .existence)].clock
    ) {
      $0.merge(self[$1].clock)
    }
  }

  /// Returns the fields of a record without its existence.
  func locations(of id: RecordID) -> [FieldLocation] {
    fields.keys.filter { $0.record == id && $0.field != .existence }
  }

  subscript(location: FieldLocation) -> ToyField {
    get { fields[location] ?? ToyField(location.field.kind, hazard) }
    set { fields[location] = newValue }
  }
}

/// The kind of a mark of a record's existence.
enum ToyMark {
  case alive, dead, final, dropped

  /// The value of the mark in the record's existence.
  var value: Value {
    switch self {
    case .alive: true
    case .dead: false
    case .final: "final"
    case .dropped: "dropped"
    }
  }
}

extension ToyReplica: TestedReplica {
  init(device: DeviceID, schema: Schema, makeDeviceID: @escaping () -> DeviceID)
  {
    (self.device, self.schema, hazard) = (device, schema, Hazard.current)
    self.makeDeviceID = makeDeviceID
  }

  func copy() -> ToyReplica { self }

  func forked(
    as device: DeviceID, makeDeviceID: @escaping () -> DeviceID
  ) -> ToyReplica {
    var fork = self
    fork.acknowledged[self.device] = vector
    (fork.device, fork.predecessor) = (device, nil)
    return fork
  }

  /// The device and the number of its saves.
  var restoreToken: Dot { Dot(device, vector[device]) }

  mutating func confirmTokenStored(_ token: Dot) -> Bool {
    token.device == device && vector.contains(token)
  }

  mutating func reopen(with token: Dot?, now: Int64) {
    hybrid = HybridClock(latest: hybrid.latest, now: now)
    let isOurs = token.map {
      $0.device == device && $0.sequence <= vector[device]
    }
    if hazard == .restoredKeepsDevice || isOurs == true { return }
    if vector[device] > 0, predecessor == nil { predecessor = device }
    device = makeDeviceID()
  }

  var version: ReplicaVersion {
    var clock = ReplicaVersion(vector)
    for (location, field) in fields where !field.clock.isContained(in: vector) {
      clock.fieldsAhead[location.digest] = field.clock
    }
    return clock
  }

  /// The contents that replicas with equal saves share.
  struct Contents: Hashable {
    let clock: VectorClock
    let fields: [FieldLocation: ToyField]
  }

  var contents: Contents {
    Contents(clock: vector, fields: fields.mapValues(\.canonical))
  }

  func reading(of location: FieldLocation) -> FieldReading {
    self[location].reading.hidingReferences(unless: exists)
  }

  mutating func fold() { raiseCut() }
  mutating func retire(_ device: DeviceID, now: Int64) -> Dot? { nil }
}
