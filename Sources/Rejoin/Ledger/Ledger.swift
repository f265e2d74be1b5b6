// SPDX-License-Identifier: Apache-2.0

/// A list of amounts that only grows, and whose beginning can be folded away.
///
///     var cash = Ledger()
///     cash.append(100, memo: .string("float"), by: phone, at: time)
///     cash.append(-30, by: phone, at: time)
///     cash.total               // 70
///     cash.fold(upTo: [phone: 1])
///     cash.total               // 70: a fold changes no total
///
/// Any replica may fold any beginning of a device's entries, and totals never count
/// twice, whoever folded what. The memos of folded entries are gone. Undo is a
/// reversing entry.
public struct Ledger: Hashable, Sendable {
  private(set) var store = LedgerLines()

  /// Creates a ledger without entries.
  public init() {}

  init(store: LedgerLines) { self.store = store }

  /// The sum of all entries, computed exactly and then clamped to `Int64`.
  ///
  /// - Complexity: O(*n*) for *n* entries that are not folded.
  public var total: Int64 { store.total }

  /// Every entry that is not folded, in the order of time.
  public var entries: [(device: DeviceID, entry: DeviceEntries.Entry)] {
    store.entries
  }

  /// The number of entries of each device.
  public var counts: VectorClock {
    var counts = VectorClock()
    for (device, line) in store.lines { counts[device] = line.count }
    return counts
  }

  /// Appends an entry.
  ///
  /// - Returns: The delta to merge elsewhere: the device's line.
  @discardableResult
  public mutating func append(
    _ amount: Int64, memo: Value? = nil, by device: DeviceID,
    at time: Timestamp
  ) -> Ledger {
    let n = (store.lines[device]?.count ?? 0) + 1
    store.append(amount, memo: memo, at: Dot(device, n), time: time)
    var delta = Ledger()
    delta.store = store.line(of: device)
    return delta
  }

  /// Folds the first entries of each device into a sum.
  ///
  /// Fold only what every replica holds: where an entry arrives folded, its memo
  /// is lost.
  ///
  /// - Parameter counts: How many entries of each device to fold.
  /// - Returns: The number of entries folded.
  @discardableResult
  public mutating func fold(upTo counts: VectorClock) -> UInt64 {
    store.fold(below: counts)
  }
}

extension Ledger: Lattice {
  public mutating func merge(_ other: Ledger) {
    store.merge(other.store, seen: Everything(), otherSeen: Everything())
  }
}
