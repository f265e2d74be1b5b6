// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification

/// A replica as simple as can be, sound unless it was created with a hazard.
///
/// It has no ledgers, no retirement and no digests of histories.
struct ToyReplica {
  var device: DeviceID
  let schema: Schema
  let hazard: Hazard?
  var fields: [FieldPath: ToyField] = [:]
  /// The saves whose every effect is here.
  var vector = VectorClock()
  /// The time of the last save in the clock, of each device.
  var times: [DeviceID: Timestamp] = [:]
  var hybrid = HybridClock()
  /// How far the others are known to be.
  var acknowledged: [DeviceID: VectorClock] = [:]
  var stabilityCut = VectorClock()
  /// The device in whose place this one came, until it has saved.
  var predecessor: DeviceID?
  let makeDeviceID: () -> DeviceID

  func exists(_ id: RecordID) -> Bool {
    let marks = self[FieldPath(id, .existence)].elements
    let isDoomed = schema[id.entity].deletion == .deleteWins
    return marks.contains(.bool(true))
      && !(isDoomed && marks.contains(.bool(false)))
  }

  func isDead(_ id: RecordID) -> Bool {
    !self[FieldPath(id, .existence)].entries.isEmpty && !exists(id)
  }

  /// The fields of a record, existence aside.
  func paths(of id: RecordID) -> [FieldPath] {
    fields.keys.filter { $0.id == id && $0.key != .existence }
  }

  subscript(path: FieldPath) -> ToyField {
    get { fields[path] ?? ToyField(path.key.kind, hazard) }
    set { fields[path] = newValue }
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

  /// The device, and how often it has saved.
  var restoreToken: Dot { Dot(device, vector[device]) }

  mutating func tokenStored(_ token: Dot) -> Bool {
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
    for (path, field) in fields where !field.clock.isContained(in: vector) {
      clock.fieldsAhead[path.digest] = field.clock
    }
    return clock
  }

  /// What replicas with the same saves agree on.
  struct Contents: Hashable {
    let clock: VectorClock
    let fields: [FieldPath: ToyField]
  }

  var contents: Contents {
    Contents(clock: vector, fields: fields.mapValues(\.canonical))
  }

  func reading(of path: FieldPath) -> FieldReading { self[path].reading }

  mutating func fold() { raiseCut() }
  mutating func retire(_ device: DeviceID, now: Int64) -> Dot? { nil }
}
