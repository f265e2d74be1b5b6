// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// When a record is not written as a whole.
package struct Patching {
  /// From how many bytes on a record gets patches.
  ///
  /// A row of that size fills a page.
  var least = 4096
  /// How long the patches of a record may be together, in hundredths of its length.
  var percent = 50

  /// As it is for apps.
  package init() {}

  /// Every record gets some, for checkers.
  package static var forTesting: Patching {
    var patching = Patching()
    (patching.least, patching.percent) = (0, 400)
    return patching
  }
}

/// The rows of a scope's records, and those of patches.
///
/// A large record is not written as a whole whenever a little of it changes. What
/// has changed is written as a patch, until the patches together are half as long
/// as the record.
struct RecordRows {
  /// What is kept of a record that gets patches.
  struct Patches {
    /// The bytes of the record's row.
    let body: Int
    var count: Int64 = 0
    /// The bytes of its patches.
    var bytes = 0

    mutating func add(_ patch: some Collection<UInt8>) {
      (count, bytes) = (count + 1, bytes + patch.count)
    }
  }

  /// The number of each record's row, by its position in the replica; zero if it
  /// has none.
  private(set) var numbers: [Int64] = []
  /// How many records there are, which need not all have been read.
  private(set) var count: Int64
  /// How many patches there are.
  private(set) var patchCount: Int64
  /// The large records, by their positions.
  private var patches: [Int: Patches]
  /// The bodies of the rows that were read, on a hub.
  ///
  /// Many requests arrive twice, and an unchanged row is not written again.
  private let bodies: [[UInt8]]
  let patching: Patching

  /// What was read of a scope.
  init(
    _ row: ScopeRow, _ numbers: [Int64] = [], _ patches: [Int: Patches] = [:],
    _ bodies: [[UInt8]] = [], patching: Patching
  ) {
    (self.numbers, self.patches, self.bodies) = (numbers, patches, bodies)
    (count, patchCount) = (row.records, row.patches)
    self.patching = patching
  }

  /// The check of a patch: it counts only where it was written.
  static func check(
    of patch: [UInt8], at place: Int64, of record: Int64
  ) -> Int64 {
    var check = RowCheck(UInt64(bitPattern: record), UInt64(bitPattern: place))
    check.add(patch)
    return check.value
  }

  /// The positions of the large records.
  var large: some Sequence<Int> { patches.keys }

  /// The number of a record's row.
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
    numbers.removeLast(max(0, numbers.count - recordCount))
    (count, patchCount) = (row.records, row.patches)
    for (place, position) in changed.enumerated() {
      patches[position] = read.patches[place]
    }
  }

  /// Writes a record that has changed.
  mutating func write(
    _ position: Int, of replica: Replica, in scope: Int64,
    on connection: any SQLConnection
  ) throws {
    if let known = patches[position],
      let patch = replica.stored.encodedPatch(ofRecordAt: position),
      known.bytes + patch.count <= known.body / 100 * patching.percent
    {
      try add(patch, position, known, in: scope, on: connection)
    } else {
      let body = replica.stored.encodedRecord(at: position)
      if position < bodies.count, body == bodies[position] { return }
      try write(body, position, of: replica, in: scope, on: connection)
      try dropPatches(position, in: scope, on: connection)
      if body.count >= patching.least {
        patches[position] = Patches(body: body.count)
      }
    }
    replica.recordWritten(position, isPatched: patches[position] != nil)
  }

  private mutating func write(
    _ body: [UInt8], _ position: Int, of replica: Replica, in scope: Int64,
    on connection: any SQLConnection
  ) throws {
    while numbers.count <= position { numbers.append(0) }
    if numbers[position] > 0 {
      try connection.run(
        "UPDATE rejoin_record SET body = ? WHERE record = ?", .bytes(body),
        .integer(numbers[position]))
    } else {
      let id = replica.stored.recordID(at: position)
      numbers[position] =
        try connection.integer(
          "INSERT INTO rejoin_record (scope, entity, key, body) "
            + "VALUES (?, ?, ?, ?) RETURNING record",
          .integer(scope), .utf8(id.entity), .utf8(id.key), .bytes(body))
        ?? 0
      count += 1
    }
  }

  private mutating func add(
    _ patch: [UInt8], _ position: Int, _ known: Patches, in scope: Int64,
    on connection: any SQLConnection
  ) throws {
    try connection.run(
      "INSERT INTO rejoin_patch (scope, record, place, body, row_check) "
        + "VALUES (?, ?, ?, ?, ?)",
      .integer(scope), .integer(numbers[position]), .integer(known.count),
      .bytes(patch),
      .integer(
        RecordRows.check(of: patch, at: known.count, of: numbers[position])))
    patchCount += 1
    patches[position]?.add(patch)
  }

  private mutating func dropPatches(
    _ position: Int, in scope: Int64, on connection: any SQLConnection
  ) throws {
    guard let known = patches.removeValue(forKey: position), known.count > 0
    else { return }
    try connection.run(
      "DELETE FROM rejoin_patch WHERE record = ?",
      .integer(numbers[position]))
    patchCount -= known.count
  }
}
