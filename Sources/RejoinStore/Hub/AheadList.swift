// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The records with fields ahead of the version that a scope lists.
struct AheadList {
  /// The maximum number of listed fields.
  ///
  /// Every version of every device lists them, so a member could otherwise make
  /// all versions large.
  static let fieldLimit = 256
  /// The maximum number of bytes of the records, which every request reads.
  private static let byteLimit = 1 << 20

  /// The positions of the listed records.
  private(set) var positions: [Int] = []
  /// The number of other records with fields ahead of the version.
  private(set) var unlistedCount = 0

  /// Creates the list.
  ///
  /// - Parameter isFirst: Whether to prefer a record to those with lesser IDs.
  init(of state: ReplicaState, preferring isFirst: (Int) -> Bool) {
    let counts = state.aheadCounts
    let order = counts.keys.map { (position: $0, isFirst: isFirst($0)) }.sorted
    {
      $0.isFirst != $1.isFirst
        ? $0.isFirst
        : state.recordID(at: $0.position) < state.recordID(at: $1.position)
    }
    var (fields, bytes) = (AheadList.fieldLimit, AheadList.byteLimit)
    for (position, _) in order {
      let count = counts[position] ?? 0
      let size =
        count > fields
        ? .max : state.encodedRecord(at: position).count
      if size > bytes {
        unlistedCount += 1
        continue
      }
      (fields, bytes) = (fields - count, bytes - size)
      positions.append(position)
    }
  }
}
