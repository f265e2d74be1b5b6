// SPDX-License-Identifier: Apache-2.0

import Rejoin

// Imported and pulled rows.
extension OracleReplica {
  /// Returns the save that imports rows that every device already has.
  static func importing(
    _ rows: [ScriptVerb], as dot: Dot, history: OracleHistory
  ) -> OracleSave {
    let blank = OracleReplica(dot.device, history: history)
    let pending = blank.pending(rows).mapValues { record in
      var copy = record
      copy.verbs = record.verbs.mapValues { verbs in
        var folded = verbs
        while folded.count > 1 { _ = folded[0].append(folded.remove(at: 1)) }
        return folded
      }
      return copy
    }
    return blank.save(of: pending, at: dot, time: .zero)
  }

  private func pending(
    _ rows: [ScriptVerb]
  ) -> [RecordID: OraclePending] {
    var pending: [RecordID: OraclePending] = [:]
    for verb in rows { add(verb, to: &pending) }
    return pending
  }

  /// Receives a whole save.
  mutating func hear(_ index: Int, now: Int64) {
    let save = history.saves[index]
    var delta = OracleDelta()
    for location in save.edits.keys { delta.fields[location] = SaveSet(index) }
    delta.intervals[save.dot.device] = .init(
      from: save.dot.sequence - 1, to: save.dot.sequence, time: save.time)
    apply(delta, now: now)
  }

  /// Pulls the rows of a server that differ from the last pulled rows.
  ///
  /// - Parameter device: This replica's pull device for the server.
  mutating func pull(
    _ rows: [ScriptVerb], from server: String, modifiedAt milliseconds: Int64,
    as device: DeviceID, now: Int64
  ) -> Int? {
    let dot = Dot(device, clock[device] + 1)
    // A time that the device's clock cannot reach is wrong.
    let last =
      now > .max - Self.maximumClockSkew
      ? .max : now + Self.maximumClockSkew
    let bound = Timestamp(milliseconds: last)
    let isWrong = Timestamp(milliseconds: milliseconds) > bound
    let time = Timestamp(milliseconds: isWrong ? now : milliseconds)
    let pullDevices = pullDevices(of: server).union([device])
    var save = OracleSave(dot: dot, time: time)
    func write(_ value: Value?, to location: FieldLocation) {
      save.edits[location] = edit(
        value, of: location, at: time, seeing: pullDevices)
    }
    for (id, record) in pending(rows) {
      let memory = Self.memory(of: id, from: server)
      if record.verbs.isEmpty,
        !held.keys.contains(where: { $0.record == memory })
      {
        for id in [memory, id] {
          save.edits[FieldLocation(record: id, field: .existence)] = OracleEdit(
            seen: SaveSet(), drops: false, verbs: [], stamp: time,
            mark: OracleMark(kind: .touch))
        }
      }
      var (new, old) = ([:], [:]) as ([FieldKey: Value?], [FieldKey: Value?])
      for (key, verbs) in record.verbs {
        guard case .write(let value) = verbs.last else { continue }
        let pulled = field(FieldLocation(record: memory, field: key)).write
        if let pulled,
          pulled.value == value
            || pulled.time <= bound
              && (time < pulled.time || time == pulled.time && !isWrong)
        {
          old[key] = .some(pulled.value)
        } else {
          new[key] = .some(value)
        }
      }
      for (key, value) in new {
        write(value, to: FieldLocation(record: memory, field: key))
        write(value, to: FieldLocation(record: id, field: key))
      }
      // A purged row comes back as a whole.
      let isNamed = !deletions(of: id).isEmpty && namesEveryDeletion(of: id)
      for (key, value) in old where isNamed && !new.isEmpty {
        write(value, to: FieldLocation(record: id, field: key))
      }
    }
    if save.edits.isEmpty { return nil }
    if dot.sequence == 1 {
      write(.string(server), to: Self.location(ofPullDevice: device))
    }
    knowledge.pullDevices[server] = device
    let index = history.index(of: save)
    hear(index, now: now)
    return index
  }

  /// Returns the record that remembers the last pull of a row.
  static func memory(of id: RecordID, from server: String) -> RecordID {
    RecordID(
      "rejoin.pulled",
      "\(id.entity.utf8.count):\(id.key.utf8.count):\(id.entity)\(id.key)"
        + server)
  }

  /// Returns whether a record remembers pulls of another record's rows.
  static func isMemory(_ memory: RecordID, of id: RecordID) -> Bool {
    // The key ends with the server's name.
    let anyServer = Self.memory(of: id, from: "")
    return memory.entity == anyServer.entity
      && memory.key.utf8.starts(with: anyServer.key.utf8)
  }

  /// Drops the pull memories of records that the save creates again.
  func forgettingPulls(
    _ pending: [RecordID: OraclePending]
  ) -> [RecordID: OraclePending] {
    var pending = pending
    let records = Set(held.keys.map(\.record))
    for (id, record) in pending where record.drops && record.mark == .touch {
      for memory in records where Self.isMemory(memory, of: id) {
        if contents(of: memory).isEmpty { continue }
        pending[memory] = OraclePending(drops: true, shown: record.shown)
        pending[memory]?.shown[.existence] = nil
      }
    }
    return pending
  }

  private static let server = FieldKey("server", .register)

  /// Returns the field that names the server of a pull device.
  static func location(ofPullDevice device: DeviceID) -> FieldLocation {
    FieldLocation(
      record: RecordID("rejoin.roster", device.hexadecimal), field: server)
  }

  /// Returns a write that has seen only earlier pulls from its server.
  private func edit(
    _ value: Value?, of location: FieldLocation, at time: Timestamp,
    seeing pullDevices: Set<DeviceID>
  ) -> OracleEdit {
    var seen = SaveSet()
    for index in held[location]?.members ?? []
    where pullDevices.contains(history.saves[Int(index)].dot.device) {
      seen.insert(Int(index))
    }
    return OracleEdit(
      seen: seen, drops: false, verbs: [.write(value)], stamp: time)
  }

  /// Returns the known pull devices of a server, or of all servers.
  func pullDevices(of server: String? = nil) -> Set<DeviceID> {
    Set(serverNames.filter { server == nil || $0.value == server }.keys)
  }

  /// The servers of the known pull devices.
  private var serverNames: [DeviceID: String] {
    var names: [DeviceID: String] = [:]
    for location in held.keys
    where location.record.entity == "rejoin.roster"
      && location.field == Self.server
    {
      guard case .string(let name)? = field(location).write?.value,
        let device = DeviceID(hexadecimal: location.record.key)
      else { continue }
      names[device] = name
    }
    return names
  }
}
