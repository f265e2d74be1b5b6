// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The conditions for writing a change as a patch.
package struct Patching {
  /// The minimum number of bytes of a record with patches.
  ///
  /// A row of the default size fills a page.
  package var least = 4096
  /// The maximum size of a record's patches, in percent of the record's size.
  package var percent = 50

  /// Creates the conditions for apps.
  package init() {}
}

/// The rows of a scope's records and of their patches.
///
/// A small change of a large record is written as a patch. When the patches
/// exceed half the size of the record, the whole record is written again.
struct RecordRows {
  /// The sizes of a large record and its patches.
  struct Patches {
    /// The number of bytes in the record's row.
    let body: Int
    var count: Int64 = 0
    /// The number of bytes in the patches.
    var bytes = 0

    mutating func add(_ patch: some Collection<UInt8>) {
      (count, bytes) = (count + 1, bytes + patch.count)
    }
  }

  /// The row number of each record, by position in the replica, or zero for a
  /// record without a row.
  private(set) var numbers: [Int64] = []
  /// The flags in each row, by position.
  private var flags: [RecordFlags] = []
  /// The number of all records, including records that were not read.
  private(set) var count: Int64
  /// The number of patches.
  private(set) var patchCount: Int64
  /// The large records, by position.
  private var patches: [Int: Patches]
  let patching: Patching

  /// Creates the rows that were read from a scope.
  init(
    _ row: ScopeRow, _ numbers: [Int64] = [], _ flags: [RecordFlags] = [],
    _ patches: [Int: Patches] = [:], patching: Patching
  ) {
    (self.numbers, self.flags, self.patches) = (numbers, flags, patches)
    (count, patchCount) = (row.records, row.patches)
    self.patching = patching
  }

  /// Returns the check of a patch, which includes the location of the patch.
  static func check(
    of patch: [UInt8], at place: Int64, of record: Int64
  ) -> Int64 {
    var check = RowCheck(UInt64(bitPattern: record), UInt64(bitPattern: place))
    check.add(patch)
    return check.value
  }

  /// The positions of the large records.
  var large: some Sequence<Int> { patches.keys }

  /// Returns the number of a record's row.
  func number(at position: Int) -> Int64? {
    position < numbers.count ? numbers[position] : nil
  }

  /// Restores the rows to their state before a change.
  ///
  /// - Parameters:
  ///   - row: The row of the scope before the change.
  ///   - recordCount: The number of records before the change.
  ///   - changed: The positions of the changed records.
  ///   - read: The rows of the changed records that existed before, in the same
  ///     order.
  mutating func revert(
    to row: ScopeRow, _ recordCount: Int, _ changed: [Int], _ read: RecordRows
  ) {
    let added = max(0, numbers.count - recordCount)
    numbers.removeLast(added)
    flags.removeLast(added)
    (count, patchCount) = (row.records, row.patches)
    for (place, position) in changed.enumerated() {
      patches[position] = read.patches[place]
      if place < read.flags.count { flags[position] = read.flags[place] }
    }
  }

  /// Writes a changed record as a patch or as a whole.
  mutating func write(
    _ position: Int, of replica: Replica, in scope: Int64,
    on connection: any SQLConnection
  ) throws {
    let flags = replica.current.flags(ofRecordAt: position)
    switch change(of: position, in: replica.current) {
    case .patch(let patch):
      try add(patch, to: position, in: scope, on: connection)
      try update(flags, of: position, on: connection)
    case .body(let body):
      try write(body, flags, position, of: replica, in: scope, on: connection)
      try dropPatches(of: position, on: connection)
      if body.count >= patching.least {
        patches[position] = Patches(body: body.count)
      }
    }
    replica.recordWritten(position, isPatched: patches[position] != nil)
  }

  /// The bytes to write for a changed record.
  enum Change: Equatable {
    case patch([UInt8])
    /// The whole record, which replaces its patches.
    case body([UInt8])
  }

  /// Returns the bytes to write for a changed record.
  ///
  /// - Parameter before: The state that was read, or `nil` if it is not known.
  ///   If a large record is unchanged since then, its patch is empty.
  func change(
    of position: Int, in state: ReplicaState, since before: ReplicaState? = nil
  ) -> Change {
    if let known = patches[position],
      let patch = state.encodedPatch(ofRecordAt: position, since: before),
      known.bytes + patch.count <= known.body / 100 * patching.percent
    {
      return .patch(patch)
    }
    return .body(state.encodedRecord(at: position))
  }

  private mutating func write(
    _ body: [UInt8], _ flags: RecordFlags, _ position: Int, of replica: Replica,
    in scope: Int64, on connection: any SQLConnection
  ) throws {
    while numbers.count <= position {
      numbers.append(0)
      self.flags.append([])
    }
    if numbers[position] > 0 {
      try update(flags, of: position, on: connection)
      try connection.run(
        "UPDATE rejoin_record SET body = $1 WHERE record = $2", .bytes(body),
        .integer(numbers[position]))
    } else {
      let id = replica.current.recordID(at: position)
      numbers[position] =
        try connection.integer(
          "INSERT INTO rejoin_record (scope, entity, key, state, body) "
            + "VALUES ($1, $2, $3, $4, $5) RETURNING record",
          .integer(scope), .utf8(id.entity), .utf8(id.key),
          .integer(flags.rawValue), .bytes(body)) ?? 0
      self.flags[position] = flags
      count += 1
    }
  }

  /// Writes the flags of a record that has a row, if they changed.
  ///
  /// Writing equal flags would also change the index.
  private mutating func update(
    _ new: RecordFlags, of position: Int, on connection: any SQLConnection
  ) throws {
    if flags[position] == new { return }
    try connection.run(
      "UPDATE rejoin_record SET state = $1 WHERE record = $2",
      .integer(new.rawValue), .integer(numbers[position]))
    flags[position] = new
  }

  /// Writes a patch of a record that has a row.
  mutating func add(
    _ patch: [UInt8], to position: Int, in scope: Int64,
    on connection: any SQLConnection
  ) throws {
    let place = patches[position]?.count ?? 0
    try connection.run(
      "INSERT INTO rejoin_patch (scope, record, place, body, row_check) "
        + "VALUES ($1, $2, $3, $4, $5)",
      .integer(scope), .integer(numbers[position]), .integer(place),
      .bytes(patch),
      .integer(RecordRows.check(of: patch, at: place, of: numbers[position])))
    patchCount += 1
    patches[position]?.add(patch)
  }

  /// Deletes the patches of a record.
  mutating func dropPatches(
    of position: Int, on connection: any SQLConnection
  ) throws {
    guard let known = patches.removeValue(forKey: position), known.count > 0
    else { return }
    try connection.run(
      "DELETE FROM rejoin_patch WHERE record = $1",
      .integer(numbers[position]))
    patchCount -= known.count
  }
}
