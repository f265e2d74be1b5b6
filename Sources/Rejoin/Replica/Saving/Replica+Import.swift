// SPDX-License-Identifier: Apache-2.0

extension Replica {
  /// Brings in rows that every device already has, for example from the database
  /// that the app used before.
  ///
  /// The rows become one save of a device whose name is made from their content.
  /// Devices that import the same rows therefore make the same save: each record
  /// is there once, counters count once, and nothing conflicts. The time of the
  /// save is zero, so that any real edit is shown in its place. Import all rows in
  /// one call, and the same ones everywhere; an import of other rows is another,
  /// concurrent save.
  ///
  /// - Parameter body: Writes the rows. What the replica holds plays no part.
  /// - Returns: What importing changed.
  /// - Throws: ``SaveError/counterOverflow(_:field:)``.
  @discardableResult
  public func `import`(
    _ body: (Transaction) -> Void
  ) throws(SaveError) -> MergeReport {
    let blank = blank()
    let records = try rows(writtenBy: body, on: blank)
    if records.isEmpty { return MergeReport() }
    var name = Digest()
    for (id, record) in records { name.add(record, of: id) }
    let dot = Dot(DeviceID(high: DeviceID.importMark, low: name.value), 1)
    // An empty replica has nothing to supersede or to leave.
    var ignored = SaveReport()
    for (id, record) in records {
      blank.stored.commit(
        record, of: id, at: dot, time: .zero, into: &name, &ignored)
    }
    blank.stored.version.insert(
      .init(sequence: 1, time: .zero, digest: name.value), of: dot.device)
    return blank.delta().map { apply($0) } ?? MergeReport()
  }

  /// An empty replica, on which rows are written as if nothing were here.
  func blank() -> Replica {
    Replica(
      device: DeviceID(0), schema: schema, wallClock: wallClock,
      makeDeviceID: makeDeviceID)
  }

  /// The records that `body` writes, sorted.
  func rows(
    writtenBy body: (Transaction) -> Void, on blank: Replica
  ) throws(SaveError) -> [(key: RecordID, value: PendingRecord)] {
    let transaction = Transaction(blank)
    body(transaction)
    if let failure = transaction.failure { throw failure }
    return transaction.pending.sorted { $0.key < $1.key }
  }
}

extension DeviceID {
  /// `import` in ASCII, the first half of the names that imports are made under.
  fileprivate static let importMark: UInt64 = 0x696d_706f_7274_0000

  /// Whether the device stands for an import, and will never acknowledge.
  var isImport: Bool { high == DeviceID.importMark }
}

extension Digest {
  fileprivate mutating func add(_ record: PendingRecord, of id: RecordID) {
    add(id.entity)
    add(id.key)
    add(record.mark == true ? 1 : 0)
    for (key, edit) in record.edits.sorted(by: { $0.key < $1.key }) {
      add(key)
      add(key.kind.rawValue)
      add(edit)
    }
  }
}
