// SPDX-License-Identifier: Apache-2.0

/// What one replica sends to another: changed fields, each complete with its
/// clock, and the intervals of saves whose effects they contain.
///
/// Of a large field there may be a part instead, with what is new of it.
///
/// A delta may be lost, duplicated, reordered, relayed or split. A field is
/// never wrong because of it, at most out of date.
///
/// A delta is its canonical bytes, which are validated: a file, a network and a
/// database hold the same. Its values are read from them when they are asked
/// for.
public struct Delta: Sendable {
  /// The fields of one record.
  public typealias Change = RecordChange

  /// The saves of one device that are in the delta.
  public typealias Interval = SaveInterval

  /// A message of the kind `kind`.
  let bytes: [UInt8]
  let kind: WireKind

  /// Writes a delta.
  init(
    _ content: MessageContent, _ intervals: [DeviceID: Interval],
    as kind: WireKind = .delta
  ) {
    self.kind = kind
    bytes = MessageWriter(content, intervals, as: kind).writer.out.sealed()
  }

  /// Validates a message.
  init(_ bytes: [UInt8], as kind: WireKind) throws(WireError) {
    try withBytes(of: bytes) { bytes throws(WireError) in
      var reader = try MessageReader(bytes, as: [kind])
      _ = try reader.validate()
    }
    (self.bytes, self.kind) = (bytes, kind)
  }

  /// Creates a delta of changes in any order, never two of one record.
  init(changes: [Change], intervals: [DeviceID: Interval]) {
    self.init(MessageContent(changes), intervals)
  }

  /// Creates a delta of some records, without intervals.
  ///
  /// Applying it updates their fields and does not advance the version.
  ///
  /// - Precondition: Each change is of another record.
  public init(_ changes: [Change]) {
    let sorted = changes.sorted { $0.id < $1.id }
    for (one, next) in zip(sorted, sorted.dropFirst()) {
      precondition(
        one.id < next.id,
        "two changes are of \(one.id): expected one change of each record")
    }
    self.init(changes: sorted, intervals: [:])
  }

  /// Reads the bytes, which are valid.
  func read<Result>(
    _ body: (inout MessageReader) throws(WireError) -> Result
  ) -> Result {
    do throws(WireError) {
      return try withBytes(of: bytes) { bytes throws(WireError) in
        var reader = try MessageReader(bytes, as: [kind])
        return try body(&reader)
      }
    } catch {
      preconditionFailure("validated bytes could not be read: \(error)")
    }
  }

  /// The changed records, sorted by ID.
  ///
  /// The values are much larger than the bytes, see <doc:WireFormat>. To join
  /// a delta, pass it to ``Replica/apply(_:reporting:)``, which builds none of
  /// them.
  ///
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  public var changes: [Change] {
    read { reader throws(WireError) in
      var changes: [Change] = []
      reader.begin(isBuilding: true)
      while try reader.nextEntity() {
        while try reader.nextRecord() {
          let table = reader.table
          var change = Change(
            id: RecordID(table.name, table.text),
            fields: Dictionary(minimumCapacity: table.fieldCount))
          while let (place, state) = try reader.nextField() {
            let key = place < 0 ? .existence : table.columns[place].key
            if let fragment = Fragment(state, from: reader.fields) {
              change.fragments[key] = fragment
            } else {
              change.fields[key] = state
            }
          }
          changes.append(change)
        }
      }
      return changes
    }
  }

  /// For each device, the saves that the delta contains in full.
  ///
  /// - Complexity: O(*n*) for *n* bytes.
  public var intervals: [DeviceID: Interval] {
    read { reader throws(WireError) in
      let histories = try reader.validate()
      var intervals: [DeviceID: Interval] = [:]
      histories.forEachInterval(of: reader.fields.saves) { intervals[$0] = $1 }
      return intervals
    }
  }

  /// The IDs of the changed records, sorted.
  ///
  /// - Complexity: O(*n*) for *n* bytes.
  package var recordIDs: [RecordID] {
    read { reader throws(WireError) in
      var ids: [RecordID] = []
      reader.begin(isBuilding: false)
      while try reader.nextEntity() {
        while try reader.nextRecord() {
          ids.append(RecordID(reader.table.name, reader.table.text))
          while try reader.nextField() != nil {}
        }
      }
      return ids
    }
  }

  /// The number of fields.
  ///
  /// - Complexity: O(*n*) for *n* bytes.
  public var fieldCount: Int {
    read { reader throws(WireError) in
      try reader.skipRecords()
      return reader.fieldCount
    }
  }

  /// Splits the delta into parts with nearly equal numbers of fields.
  ///
  /// A part has no intervals, because it need not contain all effects of a
  /// save. Applying it updates its fields and does not advance the version.
  ///
  /// - Precondition: `count` is positive.
  public func split(into count: Int) -> [Delta] {
    precondition(
      count > 0, "cannot split a delta into \(count) parts: expected 1 or more")
    let fields = changes.flatMap(\.single)
    return (0..<count).map { i in
      let part = fields[
        (i * fields.count / count)..<((i + 1) * fields.count / count)]
      var changes: [RecordID: Change] = [:]
      for field in part {
        changes[field.id, default: Change(id: field.id)].add(field)
      }
      return Delta(changes: Array(changes.values), intervals: [:])
    }
  }
}

extension Delta: Hashable {
  /// Whether two deltas have the same bytes.
  public static func == (a: Delta, b: Delta) -> Bool {
    a.encoded() == b.encoded()
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(encoded()) }
}
