// SPDX-License-Identifier: Apache-2.0

/// The entries that one device appended to a ledger: a folded prefix, reduced
/// to its sum, and the entries after it.
package struct DeviceEntries: Sendable {
  /// One immutable entry.
  package struct Entry: Hashable, Codable, Sendable {
    /// The sequence number of the save that appended the entry.
    package let sequence: UInt64
    /// The timestamp of the save.
    package let time: Timestamp
    /// The amount, negative for a reversal.
    package let amount: Int64
    /// The purpose of the amount.
    package let memo: Value?
  }

  /// The number of entries that were folded into ``foldedSum``.
  ///
  /// At most 2⁴⁰, so their sum stays far from an overflow.
  package private(set) var folded: UInt64 = 0

  /// The sum of the folded entries.
  ///
  /// Its magnitude is at most ``folded`` × 2⁶³.
  package private(set) var foldedSum: WideInt = 0

  /// The entries after the folded ones, in the order of their appends.
  package private(set) var tail: [Entry] = []

  /// The decision how many of the first entries are canceled.
  ///
  /// The entries that were decided on are folded, and stay folded after the
  /// decision is turned.
  package private(set) var cancellation = Cancellation()

  init() {}

  /// Creates entries with a folded prefix, which contains all entries that were
  /// decided on.
  init(
    folded: UInt64, sum: WideInt, cancellation: Cancellation = Cancellation(),
    tail: [Entry]
  ) {
    self.folded = folded
    foldedSum = sum
    self.cancellation = cancellation
    self.tail = tail
    _checkInvariants()
  }

  /// Returns whether `count` folded or canceled entries can have the sum
  /// `sum`.
  static func isSum(_ sum: WideInt, of count: UInt64) -> Bool {
    count > 0 && count <= Limits.foldedEntries
      && sum.isWithin(WideInt(high: Int64(count >> 1), low: count << 63))
  }

  /// The number of all entries, including the folded ones.
  package var count: UInt64 { folded + UInt64(tail.count) }

  /// The sum of all entries, including the canceled ones.
  package var sum: WideInt {
    foldedSum + tail.sum
  }

  /// The sum of the entries that are not canceled.
  package var total: WideInt { sum - cancellation.sum }

  mutating func append(_ entry: Entry) { tail.append(entry) }

  /// Folds the first `count` entries, or all entries if there are fewer.
  ///
  /// The limit of the format is 2⁴⁰ folded entries.
  mutating func fold(upTo count: UInt64) {
    guard count > folded else { return }
    let end = min(count, Limits.foldedEntries)
    let part = tail.prefix(Int(clamping: end - folded))
    foldedSum = part.reduce(foldedSum) { $0 + WideInt($1.amount) }
    folded += UInt64(part.count)
    tail.removeFirst(part.count)
    _checkInvariants()
  }

  /// Cancels and folds the entries in `observed`, an earlier state of these
  /// entries.
  ///
  /// Later entries are not canceled, even if they are folded.
  mutating func cancel(_ observed: DeviceEntries) {
    if observed.count > count { merge(observed) }
    fold(upTo: observed.count)
    var seen = observed
    seen.fold(upTo: .max)
    // Both sides folded the same number of entries, so their sums differ only
    // if a device ID was used twice. Cancel this side's sum, so the total is
    // zero.
    if seen.folded == folded { seen.foldedSum = foldedSum }
    cancellation.cancel(upTo: seen.folded, sum: seen.foldedSum)
    _checkInvariants()
  }

  /// Turns the decision how many entries are canceled.
  mutating func turn(_ decision: Cancellation) {
    cancellation.merge(decision)
    fold(upTo: cancellation.decided)
    _checkInvariants()
  }

  /// Returns the number of entries that the first `n` saves of the device
  /// appended.
  func entries(upToSave n: UInt64) -> UInt64 {
    folded + UInt64(tail.prefix { $0.sequence <= n }.count)
  }

  /// Keeps the longer folded prefix, the union of the entries after it, and the
  /// later decision.
  ///
  /// - Parameter isContinuation: Whether the other entries continue these
  ///   entries. If so, their folded prefix has no sum.
  mutating func merge(_ other: DeviceEntries, isContinuation: Bool = false) {
    // Prefixes of one length have different sums only if a device ID was used
    // twice. Keep the greater sum, so the join stays commutative.
    if !isContinuation, (other.folded, other.foldedSum) > (folded, foldedSum) {
      let known = min(tail.count, Int(clamping: other.folded - folded))
      tail.removeFirst(known)
      (folded, foldedSum) = (other.folded, other.foldedSum)
    }
    extend(by: other.entries(after: folded), from: max(folded, other.folded))
    turn(other.cancellation)
  }

  /// Returns the entries that a join of other entries changes.
  ///
  /// Earlier entries are folded. They have a sum only if those of `other` do.
  ///
  /// - Complexity: O(*n*), where *n* is the number of the other entries, if
  ///   they continue these entries.
  func content(changedBy other: DeviceEntries) -> DeviceEntries {
    let start = max(folded, other.folded, other.cancellation.decided)
    let tail = Array(entries(after: start))
    let earlier = other.foldedSum == 0 ? 0 : sum - tail.sum
    return DeviceEntries(
      folded: count - UInt64(tail.count), sum: earlier,
      cancellation: cancellation, tail: tail)
  }

  /// Returns the entries after the first `count`, except folded ones.
  private func entries(after count: UInt64) -> ArraySlice<Entry> {
    count > folded ? tail.dropFirst(Int(clamping: count - folded)) : tail[...]
  }

  /// Joins the entries from an index on.
  ///
  /// Both lists follow the same entries, and a device only appends. One is
  /// therefore a prefix of the other.
  private mutating func extend(
    by entries: ArraySlice<Entry>, from start: UInt64
  ) {
    var index = Int(clamping: start - folded)
    for entry in entries {
      if index == tail.count {
        tail.append(entry)
      } else if tail[index].isBefore(entry) {
        tail[index] = entry
      }
      index += 1
    }
  }
}

extension [DeviceEntries.Entry] {
  /// The sum of the amounts.
  fileprivate var sum: WideInt { reduce(0) { $0 + WideInt($1.amount) } }
}

extension DeviceEntries.Entry {
  /// Orders two entries at one index, which differ only if a device ID was used
  /// twice.
  fileprivate func isBefore(_ other: DeviceEntries.Entry) -> Bool {
    if (sequence, time.rawValue, amount) != (
      other.sequence, other.time.rawValue, other.amount
    ) {
      return (sequence, time.rawValue, amount)
        < (other.sequence, other.time.rawValue, other.amount)
    }
    return memo.isBefore(other.memo)
  }
}

extension DeviceEntries {
  /// Returns whether the entries are equal, although either may fold more.
  ///
  /// Entries of one number and one sum differ only if a device ID was used
  /// twice.
  func hasEntries(of other: DeviceEntries) -> Bool {
    count == other.count && sum == other.sum
      && entries(after: other.folded) == other.entries(after: folded)
  }
}

extension DeviceEntries: Hashable {
  package static func == (a: DeviceEntries, b: DeviceEntries) -> Bool {
    a.hasEntries(of: b) && a.cancellation == b.cancellation
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    hasher.combine(sum)
    hasher.combine(cancellation)
  }
}

extension DeviceEntries {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      precondition(
        folded <= Limits.foldedEntries, "\(folded) folded entries")
      precondition(
        cancellation.decided <= folded,
        "\(folded) folded entries with \(cancellation)")
      cancellation._checkInvariants()
      for (count, sum) in [
        (folded, foldedSum), (cancellation.canceled, cancellation.sum),
      ] {
        precondition(
          sum == 0 || DeviceEntries.isSum(sum, of: count),
          "\(sum) is no sum of \(count) amounts")
      }
    #endif
  }
}
