// SPDX-License-Identifier: Apache-2.0

// What has changed of a record with large fields, for a store that would else
// write it as a whole.
extension ReplicaState {
  /// Begins to note what changes of a record's large fields, once a store has
  /// written the record, or ends to.
  package mutating func noteWritten(_ position: Int, isPatched: Bool = true) {
    if large.isEmpty { return }
    for slot in records[position].slots {
      let location = FieldPosition(record: UInt32(position), name: slot.name)
      large[location]?.noteWritten(slot.state, isPatched: isPatched)
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
    var removed: [FieldPosition: Set<Value>] = [:]
    for slot in records[position].slots {
      let location = FieldPosition(record: UInt32(position), name: slot.name)
      if let field = large[location] {
        switch field.patch(of: slot.state) {
        case .nothing: continue
        case .field: break
        case .part(let fragment, let elements):
          fragments[location] = fragment
          if !elements.isEmpty { removed[location] = elements }
        case nil: return nil
        }
      }
      locations.append(location)
    }
    if locations.isEmpty { return nil }
    let content = MessageContent(
      records, names, at: locations, fragments: fragments)
    var message = MessageWriter(content, [:], as: .patch)
    writeHorizons(of: content, to: &message.writer.out)
    var (section, next) = (WireWriter(), 0)
    for (place, location) in content.locations().enumerated() {
      guard let elements = removed[location] else { continue }
      section.varint(place - next)
      section.varint(elements.count)
      for element in elements.sorted() { section.value(element) }
      next = place + 1
    }
    if next > 0 { message.writer.out.section(.removals, section) }
    return message.writer.out.sealed()
  }

  /// Joins what ``encodedPatch(ofRecordAt:)`` has made to the record as it was
  /// before.
  mutating func joinPatch(
    _ bytes: UnsafeRawBufferPointer, toRecordAt position: Int
  ) throws(WireError) {
    var reader = try MessageReader(bytes, as: [.patch])
    let count = records.count
    var (report, refused) = (MergeReport(), [] as [RefusedPart])
    let joined = try join(&reader, [], .faults, &report, &refused)
    var sections = StoredSections()
    _ = try reader.readSections { section, part throws(WireError) in
      try sections.read(section, into: &self, &part)
    }
    let fields = joined.map(\.location)
    for field in fields {
      if let clock = self[field]?.clock, large[field] != nil {
        large[field] = LargeField(horizon: clock)
      }
    }
    // Two saves under one number are no fault of the row.
    guard records.count == count, refused.isEmpty,
      fields.allSatisfy({ Int($0.record) == position }),
      restore(sections.horizons, of: fields),
      remove(sections.removals, of: fields)
    else {
      throw WireError(
        code: .invalid, offset: 0,
        expected: "a patch of this record, and of no other state of it")
    }
    for field in joined { noteAhead(field) }
  }

  /// Removes what large sets do not have any more; some of it they may never have
  /// had.
  ///
  /// - Returns: `false` if one of the fields is no set.
  private mutating func remove(
    _ removals: [(place: Int, elements: [Value])], of fields: [FieldPosition]
  ) -> Bool {
    for (place, elements) in removals {
      guard place < fields.count else { return false }
      let (record, name) = (Int(fields[place].record), fields[place].name)
      let isSet = records[record].update(
        name, kind: names.kind(of: name), refers: false
      ) { slot in
        slot.update { state in
          state.change(DotMap.self) { set in
            set.reshape { $0.removeMarks(of: elements) }
          } != nil
        }
      }
      guard isSet else { return false }
    }
    return true
  }
}

extension DotMap {
  fileprivate mutating func removeMarks(of elements: [Value]) {
    for element in elements { update(element) { $0 = Siblings() } }
  }
}
