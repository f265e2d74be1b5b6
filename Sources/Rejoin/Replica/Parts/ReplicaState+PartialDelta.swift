// SPDX-License-Identifier: Apache-2.0

// Deltas of some records, in the order of their IDs.
extension ReplicaState {
  /// Returns a delta with the first missing changes, of at least one and at most
  /// ``Limits/recordsPerPart`` records.
  ///
  /// - Parameters:
  ///   - byteLimit: The maximum number of bytes of the records. Only a single
  ///     record can exceed it. The list of devices comes on top.
  ///   - end: The last record in this state, if later records are stored
  ///     elsewhere.
  /// - Complexity: O(*k* + log *n*), where *k* is the number of records from
  ///   the first to the last one in the delta, or of all changed records if
  ///   they are few, and *n* is the number of all records.
  package mutating func delta(
    of missing: MissingChanges, byteLimit: Int
  ) -> Delta? {
    _checkInvariants()
    let limit = min(max(byteLimit, 1), 1 << 30)
    // The list of devices can be larger than the limit.
    let list = delta(at: [], of: missing, through: nil).message.bytes.count
    var fields = MissingFields(of: missing, in: &self)
    var (count, isCut) = (16, false)
    while true {
      fields.find(count + 1, in: &self)
      if fields.isEmpty, missing.intervals.isEmpty { return nil }
      let isEnd = count >= fields.count
      count = min(count, fields.count)
      let delta = delta(
        at: fields.first(count), of: missing,
        through: isEnd
          ? missing.range.through : fields.record(count - 1, in: self))
      let size = max(delta.message.bytes.count - list, 1)
      // An `Int` of 32 bits has no room for these products.
      let fitting = Int64(count) * Int64(limit) / Int64(size)
      if size > limit, count > 1 {
        (count, isCut) = (min(count - 1, max(Int(fitting), 1)), true)
        continue
      }
      let isFull = size > limit / 10 * 9 || count == Limits.recordsPerPart
      if isEnd || isCut || isFull { return delta }
      // Grow at most fourfold, because the next records can be larger.
      count = min(
        4 * count, max(count + 1, Int(clamping: fitting * 31 / 32)),
        Limits.recordsPerPart)
    }
  }

  /// Returns the positions of the records after `id`, in the order of their
  /// IDs.
  fileprivate mutating func positions(
    after id: RecordID?, limit: Int
  ) -> [UInt32] {
    var result: [UInt32] = []
    for name in positions.names.sorted() {
      if let id, name < SchemaName(id.entity) { continue }
      sortRecords(of: name.text)
      let key = id.flatMap { name == SchemaName($0.entity) ? $0.key : nil }
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
  /// The devices whose saves may be missing.
  private let devices: Set<DeviceID>
  /// The fields found so far.
  private var fields: [FieldPosition] = []
  /// The end of each record's fields in `fields`.
  private var ends: [Int] = []
  /// The last record that was searched.
  private var last: RecordID?
  /// Whether the search is unfinished.
  private var isIncomplete: Bool

  init(of missing: MissingChanges, in state: inout ReplicaState) {
    self.missing = missing
    last = missing.range.after
    let devices = state.devices(with: missing)
    self.devices = Set(devices)
    // If there are more changes, reading the next records is faster than
    // finding all changes for each part.
    isIncomplete =
      state.index.count(since: missing.known, of: devices) > 10_000
    if isIncomplete { return }
    let records = Dictionary(
      grouping: state.missingFields(missing, of: devices), by: \.record)
    let order = records.keys.sorted {
      state.records[Int($0)].id < state.records[Int($1)].id
    }
    for record in order {
      fields += records[record] ?? []
      ends.append(fields.count)
    }
  }

  var isEmpty: Bool { ends.isEmpty }

  /// The number of records found so far.
  var count: Int { ends.count }

  /// Returns the fields of the first records.
  func first(_ count: Int) -> [FieldPosition] {
    count == 0 ? [] : Array(fields[..<ends[count - 1]])
  }

  func record(
    _ index: Int, in state: borrowing ReplicaState
  ) -> RecordID {
    state.records[Int(fields[ends[index] - 1].record)].id
  }

  /// Finds more records, up to a total of `count`.
  mutating func find(_ count: Int, in state: inout ReplicaState) {
    while isIncomplete, ends.count < count {
      let positions = state.positions(after: last, limit: 256)
      let next = positions.last.map { state.records[Int($0)].id }
      isIncomplete =
        positions.count == 256 && next.map(missing.range.contains) ?? false
      for position in positions { find(in: state, at: position) }
      last = next
    }
  }

  private mutating func find(
    in state: borrowing ReplicaState, at position: UInt32
  ) {
    let start = fields.count
    for slot in state.records[Int(position)].slots
    where !slot.isContained(in: missing.known) {
      let field = FieldPosition(record: position, name: slot.name)
      let clock = slot.clock
      let isLookedFor = clock.entries.contains {
        devices.contains($0.device) && $0.count > missing.known[$0.device]
      }
      if isLookedFor,
        missing.lacks(
          clock, in: state.records[Int(position)].id,
          state.digest(of: field))
      {
        fields.append(field)
      }
    }
    if fields.count > start { ends.append(fields.count) }
  }
}
