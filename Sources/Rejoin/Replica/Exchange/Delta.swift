// SPDX-License-Identifier: Apache-2.0

/// Changed fields that one replica sends to another, with the saves whose
/// effects they contain.
///
/// Each field is complete with its clock, but a large field can be represented
/// by its new part. The saves are one interval for each device.
///
/// A delta may be lost, duplicated, reordered or relayed. This never makes a
/// field wrong, at most out of date.
///
/// A delta consists of its canonical bytes, which are validated. A file, a
/// network and a database store the same bytes. The delta decodes its values
/// when you ask for them.
public struct Delta: Sendable {
  /// The fields of one record.
  public typealias Change = RecordChange

  /// The saves of one device that are in the delta.
  public typealias Interval = SaveInterval

  let message: ValidatedMessage

  init(_ message: ValidatedMessage) { self.message = message }

  /// Creates a delta from its content.
  ///
  /// - Parameter range: The records that the delta covers, or `nil` for all.
  init(
    _ content: MessageContent, _ intervals: [DeviceID: Interval],
    range: RecordRange? = nil
  ) {
    message = MessageWriter(content, intervals, as: .delta, range: range)
      .sealed()
  }

  /// Creates a delta from changes in any order, at most one for each record.
  package init(
    changes: [Change], intervals: [DeviceID: Interval] = [:],
    range: RecordRange? = nil
  ) {
    self.init(MessageContent(changes), intervals, range: range)
  }

  /// Creates a delta of some records, without intervals.
  ///
  /// Applying it updates their fields, but does not advance the version.
  ///
  /// - Precondition: Each record has at most one change.
  public init(_ changes: [Change]) {
    let sorted = changes.sorted { $0.id < $1.id }
    for (one, next) in zip(sorted, sorted.dropFirst()) {
      demand(
        one.id < next.id,
        "two changes are of \(one.id): expected one change of each record")
    }
    self.init(changes: sorted)
  }

  /// The changed records, sorted by ID.
  ///
  /// The values take much more memory than the bytes: see <doc:WireFormat>. To
  /// join a delta, pass it to ``Replica/apply(_:reporting:)``, which does not
  /// create these values.
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
          while let (index, state) = records.nextField() {
            let key = records.table.columns[index].key
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

  /// The saves that the delta contains in full, by device.
  ///
  /// - Complexity: O(*d*), where *d* is the number of devices.
  public var intervals: [DeviceID: Interval] {
    Dictionary(uniqueKeysWithValues: message.head.saves.intervals)
  }

  /// The IDs of the changed records, sorted.
  ///
  /// - Complexity: O(*n*), where *n* is the number of bytes.
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

  /// The number of records.
  package var recordCount: Int { message.head.recordCount }

  /// The records that the delta covers, or `nil` for all.
  package var range: RecordRange? { message.head.range }

  /// The number of fields.
  public var fieldCount: Int { message.head.fieldCount }
}

extension Delta: Hashable {
  /// Returns whether two deltas have the same bytes.
  public static func == (a: Delta, b: Delta) -> Bool {
    a.encoded() == b.encoded()
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(encoded()) }
}

extension Replica {
  /// Returns a record with all of its fields, to send or store on its own.
  ///
  /// - Returns: The fields, or `nil` if no save changed the record.
  public func change(of id: RecordID) -> Delta.Change? {
    current.positions[id].map { position in
      let record = current.records[position]
      let fields = record.slots.map {
        (current.names[$0.name], $0.state)
      }
      return Delta.Change(
        id: record.id, fields: Dictionary(uniqueKeysWithValues: fields))
    }
  }
}

extension Delta {
  /// Decodes a delta.
  ///
  ///     let delta = try Delta(decoding: bytes)
  ///     delta.encoded() == bytes  // true
  ///
  /// The initializer validates the whole message before it uses any part, and
  /// accepts only the canonical encoding. The delta keeps the bytes. It does
  /// not copy those of an array.
  ///
  /// - Throws: ``WireError``, with the offset and the expected content.
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  public init(
    decoding bytes: some Sequence<UInt8>
  ) throws(WireError) {
    message = try ValidatedMessage(Array(bytes), as: [.delta])
  }

  /// Returns the delta as bytes.
  ///
  /// Equal deltas have equal bytes, in every process. Deltas differ if their
  /// ledgers are folded to different depths.
  ///
  /// - Complexity: O(1).
  public func encoded() -> [UInt8] { message.bytes }
}
