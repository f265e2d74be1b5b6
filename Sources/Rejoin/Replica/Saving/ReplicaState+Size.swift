// SPDX-License-Identifier: Apache-2.0

// The limit of a record's size, which only saves check. A join must not fail.
extension ReplicaState {
  /// Throws if a save would make a record too large.
  ///
  /// A save that only removes content is accepted, although it may add a device
  /// to a clock. Any other save may not make a record larger that exceeds the
  /// limit.
  ///
  /// - Complexity: O(*c*), where *c* is the size of the edits. The first save
  ///   after a join also reads the fields, and the first two saves after the
  ///   join or the decoding of a whole large field read its elements. If the
  ///   bounds of the fields exceed the limit, the record is encoded.
  mutating func checkSize(
    of record: PendingRecord, of id: RecordID, at dot: Dot, time: Timestamp
  ) throws(SaveError) {
    let added = record.byteBound
    if added == 0 || accepts(added, at: record.position) { return }
    try checkExactSize(of: record, of: id, at: dot, time: time)
    if let position = record.position { records[position].byteBound = 0 }
  }

  /// Returns whether a record surely stays within the limit, and adds to its
  /// bound.
  ///
  /// - Parameters:
  ///   - added: An upper bound of the added bytes.
  ///   - position: The position of the record, or `nil` for a new one.
  @inline(__always)
  mutating func accepts(_ added: Int, at position: Int?) -> Bool {
    guard let position else {
      return ByteBound.record + added <= recordByteLimit
    }
    let bound = Int(records[position].byteBound)
    if bound == 0 || bound + added > recordByteLimit {
      return rebound(added, at: position)
    }
    records[position].byteBound = UInt32(bound + added)
    return true
  }

  /// Computes the bound of a record again, and adds to it.
  private mutating func rebound(_ added: Int, at position: Int) -> Bool {
    let bound = byteBound(ofRecordAt: position, isTight: false) + added
    if bound > recordByteLimit { return false }
    records[position].byteBound = UInt32(bound)
    return true
  }

  /// Returns an upper bound of the number of bytes in an encoded record.
  ///
  /// - Parameter isTight: Whether to compute the bounds of large fields again,
  ///   by encoding them. The bounds grow with each edit until then.
  mutating func byteBound(ofRecordAt position: Int, isTight: Bool) -> Int {
    var bound = ByteBound.record
    for slot in records[position].slots.indices {
      bound += ByteBound.field
      if largeFields.isEmpty {
        bound += records[position].slots[slot].byteBound
      } else {
        bound += byteBound(
          of: records[position].slots[slot], ofRecordAt: position,
          isTight: isTight)
      }
    }
    return bound
  }

  private mutating func byteBound(
    of slot: FieldSlot, ofRecordAt position: Int, isTight: Bool
  ) -> Int {
    guard slot.size >= fragmentSize else { return slot.byteBound }
    let location = FieldPosition(record: UInt32(position), name: slot.name)
    if !isTight, let bound = largeFields[location]?.byteBound { return bound }
    // A later reset or its undo adds decisions, but no content.
    let decisions = slot.state.read { $0.contributors.count }
    let bound =
      isTight
      ? encodedSize(of: [location]) + ByteBound.sums * decisions
      : slot.byteBound
    largeFields[location]?.byteBound = bound
    return bound
  }

  /// Returns the number of bytes in a stored message of some fields.
  private func encodedSize(of locations: [FieldPosition]) -> Int {
    MessageWriter(
      MessageContent(records, names, at: locations), [:], as: .stored
    ).sealed().bytes.count
  }

  /// Throws if a save would make a record too large, by performing the save on
  /// a copy of the record.
  private mutating func checkExactSize(
    of record: PendingRecord, of id: RecordID, at dot: Dot, time: Timestamp
  ) throws(SaveError) {
    var copy = ReplicaState(device: dot.device, hybrid: hybrid)
    copy.names = names
    let index = copy.intern(id)
    var (before, record) = (0, record)
    if let position = record.position ?? positions[id] {
      let bound = byteBound(ofRecordAt: position, isTight: true)
      if bound + record.byteBound <= recordByteLimit { return }
      for slot in records[position].slots {
        copy.add(
          slot.state, at: FieldPosition(record: UInt32(index), name: slot.name))
      }
      before = copy.encodedRecord(at: index).count
    }
    record.position = index
    var (digest, report) = (Digest(), SaveReport(dot: dot))
    copy.commit(record, of: id, at: dot, time: time, into: &digest, &report)
    let after = copy.encodedRecord(at: index).count
    if after > max(before, recordByteLimit) {
      throw .recordTooLarge(id, byteCount: after)
    }
  }
}
