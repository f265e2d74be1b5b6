// SPDX-License-Identifier: Apache-2.0

// Deltas of some of the records, in the order of their IDs.
extension ReplicaState {
  /// Returns a delta with the first of the missing changes, at least with those of
  /// one record.
  ///
  /// - Parameters:
  ///   - limit: The number of bytes, which only the changes of a single record
  ///     exceed.
  ///   - withAhead: Whether to include the fields whose unseen saves are all ahead
  ///     of the version.
  ///   - end: The last of the records that are here, if there are others elsewhere.
  /// - Complexity: O(*k* + log *n*), where *k* is the number of records from the
  ///   first to the last one in the delta, or of all changed ones if these are few,
  ///   and *n* is that of all records.
  package mutating func delta(
    of missing: MissingChanges, byteLimit limit: Int, withAhead: Bool = true,
    readThrough end: RecordID? = nil
  ) -> Delta? {
    _checkInvariants()
    var fields = MissingFields(of: missing, withAhead: withAhead, in: &self)
    var part: [[FieldPosition]] = []
    var (count, isCut) = (0, false)
    while !isCut {
      // Doubling, since one record can be as large as all others.
      let next = fields.next(min(part.count + 1, 64), in: &self)
      if next.isEmpty { break }
      var taken = next.count
      while taken > 0 {
        let size = size(of: next[..<taken], missing)
        if count + size <= limit || part.isEmpty && taken == 1 {
          count += size
          break
        }
        taken /= 2
      }
      part += next[..<taken]
      isCut = taken < next.count
    }
    if part.isEmpty, missing.intervals.isEmpty { return nil }
    while true {
      let last = part.last.map { records[Int($0[0].record)].id }
      let delta = delta(
        at: Array(part.joined()), of: missing, through: isCut ? last : end)
      let excess = delta.message.bytes.count - limit
      if excess <= 0 || part.count < 2 { return delta }
      // The references of a longer message are longer.
      part.removeLast(
        min(part.count - 1, 1 + part.count * excess / (excess + limit)))
      isCut = true
    }
  }

  /// The number of bytes of a delta of some records.
  private mutating func size(
    of fields: ArraySlice<[FieldPosition]>, _ missing: MissingChanges
  ) -> Int {
    delta(at: Array(fields.joined()), of: missing, through: nil)
      .message.bytes.count
  }

  /// The positions of the records after one, in the order of their IDs.
  fileprivate mutating func positions(
    after id: RecordID?, limit: Int
  ) -> [UInt32] {
    var result: [UInt32] = []
    for name in positions.names.sorted() {
      if let id, name < Name(id.entity) { continue }
      sortRecords(of: name.text)
      let key = id.flatMap { name == Name($0.entity) ? $0.key : nil }
      positions[name.text]?.forEach(after: key, records) {
        result.append(UInt32($0))
        return result.count < limit
      }
      if result.count == limit { break }
    }
    return result
  }
}

/// The missing fields of each record, in the order of the records' IDs.
private struct MissingFields {
  private let missing: MissingChanges
  /// The devices whose saves are looked for.
  private let devices: Set<DeviceID>
  /// What was found and not handed out yet, in the opposite order.
  private var found: [[FieldPosition]] = []
  /// The record that was looked at last.
  private var last: RecordID?
  /// Whether there may be more than was found.
  private var isIncomplete: Bool

  init(
    of missing: MissingChanges, withAhead: Bool, in stored: inout ReplicaState
  ) {
    self.missing = missing
    last = missing.after
    let devices = stored.devices(with: missing, withAhead: withAhead)
    self.devices = Set(devices)
    // Otherwise it is faster to look at the records that follow than to find all
    // that have changed for each part.
    isIncomplete =
      stored.index.count(since: missing.known, of: devices) > 10_000
    if isIncomplete { return }
    let fields = stored.missingFields(missing, of: devices)
    var records: [UInt32: Set<FieldPosition>] = [:]
    for field in fields { records[field.record, default: []].insert(field) }
    found = records.sorted {
      stored.records[Int($0.key)].id > stored.records[Int($1.key)].id
    }.map { Array($0.value) }
  }

  /// Hands out the fields of the next records; of none at the end.
  mutating func next(
    _ count: Int, in stored: inout ReplicaState
  ) -> [[FieldPosition]] {
    var next: [[FieldPosition]] = []
    while next.count < count {
      if let fields = found.popLast() {
        next.append(fields)
      } else if isIncomplete {
        look(in: &stored)
      } else {
        break
      }
    }
    return next
  }

  /// Looks at the records that follow.
  private mutating func look(in stored: inout ReplicaState) {
    let positions = stored.positions(after: last, limit: 256)
    isIncomplete = positions.count == 256
    for position in positions {
      let fields = fields(of: stored, at: position)
      if !fields.isEmpty { found.append(fields) }
    }
    found.reverse()
    last = positions.last.map { stored.records[Int($0)].id }
  }

  private func fields(
    of stored: borrowing ReplicaState, at position: UInt32
  ) -> [FieldPosition] {
    var fields: [FieldPosition] = []
    let known = missing.known
    for slot in stored.records[Int(position)].slots
    where !slot.isContained(in: known) {
      let field = FieldPosition(record: position, name: slot.name)
      let isLookedFor = slot.clock.saves(beyond: known).entries
        .contains { devices.contains($0.device) }
      if isLookedFor,
        missing.lacks(
          slot.clock, in: stored.records[Int(position)].id,
          stored.digest(of: field))
      {
        fields.append(field)
      }
    }
    return fields
  }
}
