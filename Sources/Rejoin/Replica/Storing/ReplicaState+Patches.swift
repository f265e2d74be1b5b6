// SPDX-License-Identifier: Apache-2.0

// The changes of records with large fields, so a store need not write the whole
// record.
extension ReplicaState {
  /// Starts to record the changes of a record's large fields, after a store
  /// wrote the record.
  ///
  /// - Parameter isPatched: If `false`, the recording stops instead.
  package mutating func recordWritten(_ position: Int, isPatched: Bool = true) {
    if largeFields.isEmpty { return }
    for slot in records[position].slots {
      let location = FieldPosition(record: UInt32(position), name: slot.name)
      largeFields[location]?.recordWritten(slot.state, isPatched: isPatched)
    }
  }

  /// Returns the changes of a record since a store wrote it, as a message to
  /// join when the record is read.
  ///
  /// The message contains large fields as fragments, and other fields as a
  /// whole.
  ///
  /// - Parameter before: The state that the store wrote, or `nil` if it is not
  ///   known. The message leaves out the fields that are unchanged.
  /// - Returns: The message, or `nil` if the changes are not known. If nothing
  ///   has changed since `before`, the message is empty.
  package func encodedPatch(
    ofRecordAt position: Int, since before: ReplicaState? = nil
  ) -> [UInt8]? {
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
      } else if let before, position < before.records.count,
        let known = before[location], known == slot.state,
        known.foldedEntries == slot.state.foldedEntries
      {
        continue
      }
      locations.append(location)
    }
    if locations.isEmpty { return before.map { _ in [] } }
    let content = MessageContent(
      records, names, at: locations, fragments: fragments)
    var message = MessageWriter(content, [:], as: .stored)
    writeHorizons(of: content, to: &message)
    return message.sealed().bytes
  }

  /// Joins a message from ``encodedPatch(ofRecordAt:)`` to the record as it was
  /// before.
  mutating func joinPatch(
    _ bytes: UnsafeRawBufferPointer, toRecordAt position: Int
  ) throws(WireError) {
    let count = records.count
    let (joined, horizons) = try joinFields(ofPatch: bytes)
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

  /// Joins the fields of a stored message of one record, which can be fragments.
  ///
  /// - Returns: The joined fields, and the horizons of some of them.
  mutating func joinFields(
    ofPatch bytes: UnsafeRawBufferPointer
  ) throws(WireError) -> (
    fields: [JoinedField], horizons: [(index: Int, horizon: VectorClock)]
  ) {
    var sections = StoredSections()
    var isPatch = true
    // The patch is validated while it is joined. After an error, the caller
    // discards the state.
    var patch = try RecordReader(opening: bytes, as: [.stored])
    // A patch can have two saves under one number, so ignore the reports.
    var (report, refused) = (MergeReport(), [] as [RefusedPart])
    let joined = join(&patch, [], .faults, &report, &refused)
    try patch.finish { section, part throws(WireError) in
      isPatch = isPatch && section == .horizons
      try sections.read(section, into: &self, &part)
    }
    guard isPatch, patch.head.recordCount == 1, refused.isEmpty,
      patch.head.saves.lines.allSatisfy({ $0.interval == nil })
    else {
      throw WireError(
        code: .invalid, offset: 0,
        expected: "one record without intervals, which continues what is stored"
      )
    }
    return (joined, sections.horizons)
  }
}

extension FieldState {
  /// The number of folded entries.
  ///
  /// Folding does not make a state unequal.
  fileprivate var foldedEntries: UInt64 {
    store(of: Ledger.self).map(\.foldedEntries) ?? 0
  }
}
