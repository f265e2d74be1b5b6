// SPDX-License-Identifier: Apache-2.0

/// What one replica sends to another: changed fields, each complete with its
/// clock, and the intervals of saves whose effects they contain.
///
/// Of a large field there may be a part instead, with what is new of it.
///
/// A delta may be lost, duplicated, reordered or relayed. A field is
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

  /// A delta, or a snapshot.
  let message: ValidatedMessage

  init(_ message: ValidatedMessage) { self.message = message }

  /// Writes a delta.
  ///
  /// - Parameter range: The records that it speaks for, or `nil` for all.
  init(
    _ content: MessageContent, _ intervals: [DeviceID: Interval],
    range: RecordRange? = nil
  ) {
    message = MessageWriter(content, intervals, as: .delta, range: range)
      .sealed()
  }

  /// Creates a delta of changes in any order, never two of one record.
  init(
    changes: [Change], intervals: [DeviceID: Interval] = [:],
    range: RecordRange? = nil
  ) {
    self.init(MessageContent(changes), intervals, range: range)
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
    self.init(changes: sorted)
  }

  /// The changed records, sorted by ID.
  ///
  /// The values are much larger than the bytes, see <doc:WireFormat>. To join
  /// a delta, pass it to ``Replica/apply(_:reporting:)``, which builds none of
  /// them.
  ///
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  public var changes: [Change] {
    message.read { records in
      var changes: [Change] = []
      while records.nextEntity() {
        while records.nextRecord() {
          var change = Change(
            id: records.table.record,
            fields: Dictionary(minimumCapacity: records.table.fields.count))
          while let (place, state) = records.nextField() {
            let key = records.table.columns[place].key
            if let fragment = records.fragment(state) {
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
  /// - Complexity: O(*d*) for *d* devices.
  public var intervals: [DeviceID: Interval] {
    Dictionary(uniqueKeysWithValues: message.head.saves.intervals)
  }

  /// The IDs of the changed records, sorted.
  ///
  /// - Complexity: O(*n*) for *n* bytes.
  package var recordIDs: [RecordID] {
    message.read { records in
      var ids: [RecordID] = []
      while records.nextEntity() {
        while records.nextRecord() {
          ids.append(records.table.record)
          while records.nextField() != nil {}
        }
      }
      return ids
    }
  }

  /// The records that the delta speaks for, or `nil` for all.
  package var range: RecordRange? { message.head.range }

  /// The number of fields.
  public var fieldCount: Int { message.head.fieldCount }

  /// Splits the delta into parts with nearly equal numbers of fields.
  ///
  /// A part has no intervals, because it need not contain all effects of a
  /// save. Applying it updates its fields and does not advance the version. Only
  /// the checkers make such deltas. Apps send parts with
  /// ``Replica/delta(since:byteLimit:)``.
  ///
  /// - Precondition: `count` is positive.
  package func split(into count: Int) -> [Delta] {
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
      return Delta(changes: Array(changes.values))
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

extension Replica {
  /// A record with all of its fields, to be sent or stored on its own.
  ///
  /// - Returns: `nil` if no save has changed the record.
  public func change(of id: RecordID) -> Delta.Change? {
    stored.positions[id].map { position in
      let record = stored.records[position]
      let fields = record.slots.map {
        (stored.names[$0.name], $0.state)
      }
      return Delta.Change(
        id: record.id, fields: Dictionary(uniqueKeysWithValues: fields))
    }
  }
}
