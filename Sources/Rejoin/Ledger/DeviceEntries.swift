// SPDX-License-Identifier: Apache-2.0

/// The entries that one device has appended to a ledger: a folded beginning and
/// the entries after it.
public struct DeviceEntries: Sendable {
  /// One immutable entry.
  public struct Entry: Hashable, Codable, Sendable {
    /// The save that appended it.
    public let sequence: UInt64
    /// When it was appended.
    public let time: Timestamp
    /// The amount, negative for a reversal.
    public let amount: Int64
    /// What it was for.
    public let memo: Value?
  }

  /// The number of entries that have been folded into ``foldedSum``.
  public private(set) var folded: UInt64 = 0

  /// The sum of the folded entries.
  public private(set) var foldedSum: Int128 = 0

  /// The entries after the folded ones.
  public private(set) var tail: [Entry] = []

  /// The number of entries that have been cancelled, at most ``folded``.
  public private(set) var cancelled: UInt64 = 0

  /// The sum of the cancelled entries.
  public private(set) var cancelledSum: Int128 = 0

  init() {}

  /// Creates a line of which a part has been folded, and a part of that cancelled.
  init(
    folded: UInt64, sum: Int128, cancelled: UInt64, cancelledSum: Int128,
    tail: [Entry]
  ) {
    self.folded = folded
    foldedSum = sum
    self.cancelled = cancelled
    self.cancelledSum = cancelledSum
    self.tail = tail
  }

  /// Whether so many entries can be folded or cancelled, and have this sum.
  static func isSum(_ sum: Int128, of count: UInt64) -> Bool {
    count > 0 && count <= Limits.foldedEntries
      && sum.magnitude <= UInt128(count) << 63
  }

  /// The number of all entries.
  public var count: UInt64 { folded + UInt64(tail.count) }

  /// The sum of all entries, cancelled ones included.
  var sum: Int128 { tail.reduce(foldedSum) { $0 + Int128($1.amount) } }

  /// The sum of the entries that have not been cancelled.
  public var total: Int128 { sum - cancelledSum }

  mutating func append(_ entry: Entry) { tail.append(entry) }

  /// Folds the entries up to the `count`-th, as far as they are here.
  ///
  /// No more are folded than a message can say: only a forged line has so many.
  mutating func fold(upTo count: UInt64) {
    guard count > folded else { return }
    let end = min(count, Limits.foldedEntries)
    let part = tail.prefix(Int(clamping: end - folded))
    foldedSum = part.reduce(foldedSum) { $0 + Int128($1.amount) }
    folded += UInt64(part.count)
    tail.removeFirst(part.count)
  }

  /// Cancels the entries of `observed`, an earlier state of this line, and folds
  /// them.
  ///
  /// What has been folded beyond them is not cancelled.
  mutating func cancel(_ observed: DeviceEntries) {
    if observed.count > count { merge(observed) }
    fold(upTo: observed.count)
    var seen = observed
    seen.fold(upTo: .max)
    // One number has two sums only where a device name was used twice: what is
    // folded is then all that there is to cancel.
    if seen.folded == folded { seen.foldedSum = foldedSum }
    if (seen.folded, seen.foldedSum) > (cancelled, cancelledSum) {
      (cancelled, cancelledSum) = (seen.folded, seen.foldedSum)
    }
  }

  /// The number of entries whose saves are among the first `n` of the device.
  func entries(upToSave n: UInt64) -> UInt64 {
    folded + UInt64(tail.prefix { $0.sequence <= n }.count)
  }

  /// Keeps the greater fold, the union of the entries after it, and the greater
  /// cancellation.
  mutating func merge(_ other: DeviceEntries) {
    let (mine, theirs) = (self, other)
    if (theirs.folded, theirs.foldedSum) > (folded, foldedSum) {
      (folded, foldedSum) = (theirs.folded, theirs.foldedSum)
    }
    tail = DeviceEntries.join(
      mine.entries(after: folded), theirs.entries(after: folded))
    if (theirs.cancelled, theirs.cancelledSum) > (cancelled, cancelledSum) {
      (cancelled, cancelledSum) = (theirs.cancelled, theirs.cancelledSum)
    }
  }

  private func entries(after count: UInt64) -> ArraySlice<Entry> {
    tail.dropFirst(Int(clamping: count - folded))
  }

  private static func join(
    _ a: ArraySlice<Entry>, _ b: ArraySlice<Entry>
  ) -> [Entry] {
    let longer = a.count < b.count ? b : a
    let common = zip(a, b).map { $0.isBefore($1) ? $1 : $0 }
    return common + longer.dropFirst(common.count)
  }
}

extension DeviceEntries.Entry {
  /// An order for the case that one place holds two entries, which only a device
  /// name used twice produces.
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

extension DeviceEntries: Hashable {
  /// Lines are equal when they have the same entries, however much of them has
  /// been folded: a fold changes no total.
  public static func == (a: DeviceEntries, b: DeviceEntries) -> Bool {
    a.count == b.count && a.sum == b.sum && a.cancelled == b.cancelled
      && a.cancelledSum == b.cancelledSum
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    hasher.combine(sum)
    hasher.combine(cancelled)
    hasher.combine(cancelledSum)
  }
}
