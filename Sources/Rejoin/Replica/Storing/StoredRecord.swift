// SPDX-License-Identifier: Apache-2.0

/// The properties of a record that a database can search without decoding it.
package struct RecordFlags: OptionSet, Hashable, Sendable {
  package let rawValue: Int64

  package init(rawValue: Int64) { self.rawValue = rawValue }

  /// The record exists if updates win.
  package static let updateWins = RecordFlags(rawValue: 1)
  /// The record exists if deletions win.
  package static let deleteWins = RecordFlags(rawValue: 2)
  /// A register of the record has more than one write.
  package static let conflicted = RecordFlags(rawValue: 4)

  /// Whether the record exists under any rule.
  // `isDisjoint(with:)` is not specialized in other modules, and allocates.
  package var existsUnderAnyRule: Bool {
    rawValue & (Self.updateWins.rawValue | Self.deleteWins.rawValue) != 0
  }

  /// The flag of the records that exist under a rule.
  package static func existing(_ rule: DeletionRule) -> RecordFlags {
    switch rule {
    case .updateWins: .updateWins
    case .deleteWins: .deleteWins
    }
  }

  init(_ record: borrowing RecordState) {
    var flags: RecordFlags = []
    if record.existence.holds(.updateWins) { flags.insert(.updateWins) }
    if record.existence.holds(.deleteWins) { flags.insert(.deleteWins) }
    if record.slots.contains(where: \.isShared) { flags.insert(.conflicted) }
    self = flags
  }
}

extension ReplicaState {
  /// Returns the flags of a record.
  ///
  /// - Complexity: O(*f*), where *f* is the number of fields.
  package func flags(ofRecordAt position: Int) -> RecordFlags {
    RecordFlags(records[position])
  }

  /// Returns the position of the first record whose flags are not the given
  /// ones, or `nil` if all agree.
  package func firstRecord(differingFrom flags: [RecordFlags]) -> Int? {
    zip(records, flags).enumerated().first {
      RecordFlags($0.element.0) != $0.element.1
    }?.offset
  }
}

/// A record that was read from its row, without its replica.
package struct StoredRecord {
  let state: RecordState
  let names: FieldNames

  package var id: RecordID { state.id }
  package var flags: RecordFlags { RecordFlags(state) }

  /// Returns the record under a schema.
  ///
  /// - Parameter exists: A closure that returns whether a record exists, for
  ///   the references in this one.
  package func record(
    _ schema: Schema, exists: (RecordID) -> Bool
  ) -> Record {
    Record(state, names, schema, exists: exists)
  }
}

/// Reads the rows of records, each without the others.
package struct StoredRecordReader {
  /// The field names of all records that were read.
  private var names = FieldNames()
  private var table = RowTable()

  package init() {}

  /// Reads the bytes of ``ReplicaState/encodedRecord(at:)``.
  package mutating func read(
    _ bytes: UnsafeRawBufferPointer
  ) throws(WireError) -> StoredRecord {
    let row = try DecodedRow(bytes, &names, &table)
    return StoredRecord(state: row.record, names: names)
  }
}

/// The entity of a row, which the next row often repeats.
struct RowTable {
  fileprivate var table = EntityTable()
  /// The numbers of the entity's fields.
  fileprivate var numbers: [UInt32] = []

  init() { table.expectsRepetition = true }
}

/// The content of a record's row.
struct DecodedRow {
  let record: RecordState
  /// The horizons of large fields, each with the index of its field.
  let horizons: [(index: Int, horizon: VectorClock)]
  /// The numbers of the fields in the order of the row, or none without
  /// horizons.
  let fields: [UInt32]

  /// - Parameter previous: The entity of the previous row.
  init(
    _ bytes: UnsafeRawBufferPointer, _ names: inout FieldNames,
    _ previous: inout RowTable
  ) throws(WireError) {
    var record: RecordState?
    var numbers = previous.numbers
    let table = previous.table
    // The table is changed in place, and an error leaves none.
    previous = RowTable()
    // The row is validated while it is read.
    var row = try RecordReader(opening: bytes, as: [.stored], after: table)
    while row.nextEntity() {
      if !row.table.isRepeated {
        numbers = row.table.columns.map { names.intern($0.key) }
      }
      while row.nextRecord() {
        var next = RecordState(row.table.record)
        next.reserve(row.table.fields.count)
        while let (index, state) = row.nextField() {
          next.add(FieldSlot(numbers[index], state))
        }
        record = next
      }
    }
    var sections = StoredSections()
    try row.finish { section, part throws(WireError) in
      try part.require(
        section == .horizons, .invalid, "only the horizons of large fields")
      try sections.readHorizons(&part)
    }
    guard let record, row.head.recordCount == 1, !row.hasFragments,
      row.head.saves.lines.allSatisfy({ $0.interval == nil })
    else {
      throw WireError(
        code: .invalid, offset: 0,
        expected: "one record without intervals, which continues what is stored"
      )
    }
    self.record = record
    horizons = sections.horizons
    fields =
      horizons.isEmpty ? [] : row.table.fields.map { numbers[Int($0)] }
    (previous.table, previous.numbers) = (row.table, numbers)
  }
}
