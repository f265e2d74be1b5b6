// SPDX-License-Identifier: Apache-2.0

/// An append-only list of amounts, the oldest of which can be folded into a
/// sum.
///
///     var cash = Ledger()
///     cash.append(100, memo: .string("float"), by: phone, at: time)
///     cash.append(-30, by: phone, at: time)
///     cash.total               // 70
///     cash.fold(upTo: [phone: 1])
///     cash.total               // 70: a fold changes no total
///
/// Any replica may fold any prefix of a device's entries; no entry is ever
/// counted twice. The memos of folded entries are lost. To undo an entry,
/// append its reversal.
public struct Ledger: Hashable, Sendable {
  private(set) var store = LedgerLines()

  /// Creates an empty ledger.
  public init() {}

  init(store: LedgerLines) { self.store = store }

  /// The sum of all entries, computed exactly and then clamped to `Int64`.
  ///
  /// - Complexity: O(*n*) for *n* entries that are not folded.
  public var total: Int64 { store.total }

  /// The entries that are not folded, ordered by time.
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
  /// - Returns: The delta to merge elsewhere: all entries of the device.
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
  /// Fold only what every replica holds: one that receives an entry in folded
  /// form never gets its memo.
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
    // The store ignores the contexts.
    store.merge(other.store, seen: Everything(), otherSeen: Everything())
  }
}
