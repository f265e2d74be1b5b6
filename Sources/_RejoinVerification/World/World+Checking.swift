// SPDX-License-Identifier: Apache-2.0
import Rejoin

extension World {
  /// Compares all readings of some records on a device with the oracle.
  mutating func check(
    _ i: Int, _ records: [RecordID]
  ) throws(ScriptMismatch) {
    if !suspects.isEmpty { takePrefixes(of: i, since: peers[i].model) }
    let readings = try peers[i].replica.check(
      against: peers[i].model, records.filter { !isUndecidable($0) },
      universe.fields, doubting: undecidable, named: name(i))
    if undecidable.isEmpty {
      try peers[i].replica.checkLatest(against: peers[i].model, named: name(i))
    }
    for id in records { try checkPurgeLaw(of: id, on: i) }
    observe(peers[i].model.clock)
    for reading in readings { observe(reading) }
    counts.checks += 1
  }

  /// Law 8: A replica contains every effect of every save in its version.
  ///
  /// For saves in a prefix, the replica contains the effects on the first
  /// records. Devices that may have two histories are not checked.
  func checkSoundness(_ i: Int) throws(ScriptMismatch) {
    try peers[i].model.checkSoundness(
      of: indices.values.joined(), except: suspects, isUndecidable,
      named: name(i))
  }

  /// The law of purges: They do not change what a device shows.
  ///
  /// A device with a part of a delta can show a part of a save.
  private mutating func checkPurgeLaw(
    of id: RecordID, on i: Int
  ) throws(ScriptMismatch) {
    let model = peers[i].model
    guard hasPurgeLaw, suspects.isEmpty, !purges.isEmpty, !model.isAhead,
      model.prefixes.isEmpty
    else { return }
    try model.checkPurges(of: id, named: name(i))
    counts.purgeLaws += 1
  }

  func name(_ i: Int) -> String { DeviceNames.name(i) }
}

extension TestedReplica {
  /// Compares all readings of some records with the oracle.
  ///
  /// - Parameter doubted: The records that may exist or not, so references to
  ///   them may be shown or not.
  /// - Returns: The readings.
  @discardableResult
  func check(
    against model: OracleReplica, _ records: [RecordID],
    _ fields: [FieldKey], doubting doubted: Set<RecordID> = [],
    named name: String
  ) throws(ScriptMismatch) -> [FieldReading] {
    try agree("clock of \(name)", version.vectorClock, model.clock)
    try agree(
      "prefixes of \(name)", [DeviceID: OraclePrefix](version).text,
      model.prefixes.text)
    var readings: [FieldReading] = []
    for id in records {
      try agree("\(id) exists on \(name)", exists(id), model.exists(id))
      for key in fields {
        let location = FieldLocation(record: id, field: key)
        if model.field(location).refers(to: doubted) { continue }
        readings.append(try check(location, against: model, named: name))
      }
    }
    try checkListing(records, pages: true, named: name)
    return readings
  }

  /// Compares the hybrid clock with the oracle.
  func checkLatest(
    against model: OracleReplica, named name: String
  ) throws(ScriptMismatch) {
    guard let latest else { return }
    try agree(
      "hybrid clock of \(name)", latest.rawValue, model.knowledge.latest)
  }

  private func check(
    _ location: FieldLocation, against model: OracleReplica, named name: String
  ) throws(ScriptMismatch) -> FieldReading {
    let (real, field) = (reading(of: location), model.field(location))
    try agree("\(location) on \(name)", real, model.reading(of: location))
    if let later = laterReading(of: location) {
      try agree(
        "\(location) on \(name), as a later version reads it", later,
        model.laterReading(of: location))
    }
    if let author = real.author, field.isFollowed(author) {
      throw ScriptMismatch(
        "law 7: \(location) on \(name) shows a superseded write")
    }
    return real
  }

  /// Law 12: A replica reads back the writes of its own save.
  func checkReadBack(
    _ verbs: [ScriptVerb], named name: String
  ) throws(ScriptMismatch) {
    var written: [FieldLocation: Value?] = [:]
    for verb in verbs {
      switch verb {
      case .edit(let id, let key, .write(let value)):
        written[FieldLocation(record: id, field: key)] = .some(value)
      case .move(let id, let key, _, _):
        // The comparison with the oracle checks the new position.
        written[FieldLocation(record: id, field: key)] = nil
      case .delete(let id): written = written.filter { $0.key.record != id }
      default: break
      }
    }
    for (location, value) in written {
      var shown = value
      if case .reference(let id)? = value, !exists(id) { shown = nil }
      try agree(
        "law 12: \(location) on \(name)", reading(of: location).value, shown)
    }
  }
}
