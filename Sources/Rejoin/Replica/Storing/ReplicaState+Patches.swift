// SPDX-License-Identifier: Apache-2.0

// What has changed of a record with large fields, for a store that would else
// write it as a whole.
extension ReplicaState {
  /// Begins to note what changes of a record's large fields, once a store has
  /// written the record, or ends to.
  package mutating func recordWritten(_ position: Int, isPatched: Bool = true) {
    if largeFields.isEmpty { return }
    for slot in records[position].slots {
      let location = FieldPosition(record: UInt32(position), name: slot.name)
      largeFields[location]?.recordWritten(slot.state, isPatched: isPatched)
    }
  }

  /// What has changed of a record since a store has written it, as a message
  /// that is joined to it on reading.
  ///
  /// Its large fields are in it as fragments, the others as they are.
  ///
  /// - Returns: `nil` if what has changed is not known.
  package func encodedPatch(ofRecordAt position: Int) -> [UInt8]? {
    var locations: [FieldPosition] = []
    var fragments: [FieldPosition: Fragment] = [:]
    for slot in records[position].slots {
      let location = FieldPosition(record: UInt32(position), name: slot.name)
      if let field = largeFields[location] {
        switch field.patch(of: slot.state) {
        case .nothing: continue
        case .field: break
        case .part(let fragment): fragments[location] = fragment
        case nil: return nil
        }
      }
      locations.append(location)
    }
    if locations.isEmpty { return nil }
    let content = MessageContent(
      records, names, at: locations, fragments: fragments)
    var message = MessageWriter(content, [:], as: .stored)
    writeHorizons(of: content, to: &message)
    return message.sealed().bytes
  }

  /// Joins what ``encodedPatch(ofRecordAt:)`` has made to the record as it was
  /// before.
  mutating func joinPatch(
    _ bytes: UnsafeRawBufferPointer, toRecordAt position: Int
  ) throws(WireError) {
    let count = records.count
    let (joined, horizons) = try joinRow(bytes, isPatch: true)
    let fields = joined.map(\.location)
    for field in fields {
      if let clock = self[field]?.clock, largeFields[field] != nil {
        largeFields[field] = LargeField(horizon: clock)
      }
    }
    guard records.count == count,
      fields.allSatisfy({ Int($0.record) == position }),
      restore(horizons, of: fields)
    else {
      throw WireError(
        code: .invalid, offset: 0,
        expected: "a patch of this record, and of no other state of it")
    }
    recordAhead(joined, hasAdvanced: false)
  }

  /// Joins a message of one record, which a store has written.
  ///
  /// - Parameter isPatch: Whether its fields can be fragments.
  /// - Returns: The fields that were joined, and the horizons of some.
  mutating func joinRow(
    _ bytes: UnsafeRawBufferPointer, isPatch: Bool
  ) throws(WireError) -> (
    fields: [JoinedField], horizons: [(place: Int, horizon: VectorClock)]
  ) {
    var sections = StoredSections()
    var isRow = true
    // The row is validated while it is joined. After an error, the caller discards the
    // state.
    var row = try RecordReader(opening: bytes, as: [.stored])
    // A row can have two saves under one number, so reports do not matter.
    var (report, refused) = (MergeReport(), [] as [RefusedPart])
    let fields = join(&row, [], .faults, &report, &refused)
    try row.finish { section, part throws(WireError) in
      isRow = isRow && section == .horizons
      try sections.read(section, into: &self, &part)
    }
    guard isRow, row.head.recordCount == 1, refused.isEmpty,
      isPatch || !row.hasFragments,
      row.head.saves.lines.allSatisfy({ $0.interval == nil })
    else {
      throw WireError(
        code: .invalid, offset: 0,
        expected: "one record without intervals, which continues what is stored"
      )
    }
    return (fields, sections.horizons)
  }
}
