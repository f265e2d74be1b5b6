// SPDX-License-Identifier: Apache-2.0

/// The positions of records, sorted by key.
///
/// The positions are in runs of limited length. In a single array, inserting a
/// record between others would move half of them.
struct KeyOrder: Sendable {
  /// The maximum length of a run.
  private static var limit: Int { 512 }

  /// The runs, each with 1 to `limit` positions.
  private var runs: [[UInt32]] = []

  init() {}

  /// - Parameter positions: Sorted by key.
  init(_ positions: [UInt32]) {
    runs = stride(from: 0, to: positions.count, by: Self.limit).map {
      Array(positions[$0..<min($0 + Self.limit, positions.count)])
    }
  }

  /// The positions in order.
  var all: [UInt32] { Array(runs.joined()) }

  /// The position of the record with the greatest key.
  var last: UInt32? { runs.last?.last }

  /// Adds the position of a record with a greater key than all others.
  mutating func append(_ position: UInt32) {
    if runs.last.map({ $0.count < Self.limit }) ?? false {
      runs[runs.count - 1].append(position)
    } else {
      runs.append([position])
    }
  }

  /// Removes the positions from `count` on, which are the last ones.
  mutating func removeLast(from count: UInt32) {
    while let last, last >= count {
      runs[runs.count - 1].removeLast()
      if runs[runs.count - 1].isEmpty { runs.removeLast() }
    }
  }

  /// Adds the position of a record.
  ///
  /// - Complexity: O(log *n*), where *n* is the number of records.
  mutating func insert(_ position: UInt32, _ records: [RecordState]) {
    let place = place(after: records[Int(position)].id.key, records)
    guard place.run < runs.count else { return append(position) }
    runs[place.run].insert(position, at: place.index)
    guard runs[place.run].count > Self.limit else { return }
    let half = Self.limit / 2
    runs.insert(Array(runs[place.run][half...]), at: place.run + 1)
    runs[place.run].removeSubrange(half...)
  }

  /// Returns the place of the first record after a key.
  private func place(
    after key: String, _ records: [RecordState]
  ) -> (run: Int, index: Int) {
    func isAfter(_ position: UInt32?) -> Bool {
      position.map {
        UTF8Order.compare(records[Int($0)].id.key, key) > 0
      } ?? false
    }
    let run = runs.partitioningIndex { isAfter($0.last) }
    guard run < runs.count else { return (run, 0) }
    return (run, runs[run].partitioningIndex { isAfter($0) })
  }

  /// Calls `body` with the positions of the records after a key, in order,
  /// until it returns `false`.
  func forEach(
    after key: String?, _ records: [RecordState], _ body: (UInt32) -> Bool
  ) {
    var (run, index) = (0, 0)
    if let key { (run, index) = place(after: key, records) }
    while run < runs.count {
      for position in runs[run][index...] {
        if !body(position) { return }
      }
      (run, index) = (run + 1, 0)
    }
  }
}

#if REJOIN_CHECK_INVARIANTS
  extension KeyOrder {
    func _checkInvariants() {
      precondition(
        runs.allSatisfy { !$0.isEmpty && $0.count <= Self.limit },
        "a run is empty or too long: \(runs.map(\.count))")
    }
  }
#endif
