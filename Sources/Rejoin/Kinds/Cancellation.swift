// SPDX-License-Identifier: Apache-2.0

/// The decision which changes of one device are canceled in a counter or a
/// ledger.
///
/// A change is identified by its number: in a counter, the number of its save,
/// and in a ledger, its position among the entries of the device. A reset
/// decides that all changes up to a number are canceled. Its undo turns the
/// decision back to the changes that were canceled before. So two devices that
/// undo the same reset make the same decision, and no change counts twice.
package struct Cancellation: Hashable, Sendable {
  /// The last change that was decided on, or zero without a decision.
  package private(set) var decided: UInt64 = 0

  /// The number of times that the decision was turned.
  package private(set) var turns: UInt64 = 0

  /// The last canceled change, or zero if no change is canceled.
  ///
  /// At most ``decided``, and equal to it if the decision was never turned.
  package private(set) var canceled: UInt64 = 0

  /// The sum of the canceled changes.
  ///
  /// Zero if no change is canceled.
  package private(set) var sum: WideInt = 0

  /// Creates a cancellation without a decision.
  init() {}

  /// Creates the decision that the changes up to `number` are canceled.
  ///
  /// - Parameter sum: The sum of these changes.
  package init(upTo number: UInt64, sum: WideInt) {
    self.init(checked: number, turns: 0, canceled: number, sum: sum)
  }

  /// Creates a decision from its parts, or returns `nil` for parts that no
  /// decision has.
  package init?(
    decided: UInt64, turns: UInt64, canceled: UInt64, sum: WideInt
  ) {
    guard decided > 0,
      turns > 0 ? canceled <= decided : canceled == decided,
      canceled > 0 || sum == 0
    else { return nil }
    self.init(checked: decided, turns: turns, canceled: canceled, sum: sum)
  }

  /// Creates a decision from its parts.
  init(checked decided: UInt64, turns: UInt64, canceled: UInt64, sum: WideInt) {
    (self.decided, self.turns) = (decided, turns)
    (self.canceled, self.sum) = (canceled, sum)
    _checkInvariants()
  }

  /// Cancels the changes that the author of a reset observed.
  ///
  /// If all of them are already canceled, nothing changes.
  ///
  /// - Parameters:
  ///   - number: The last observed change.
  ///   - sum: The sum of the observed changes.
  mutating func cancel(upTo number: UInt64, sum: WideInt) {
    if number > decided {
      self = Cancellation(upTo: number, sum: sum)
    } else if (canceled, self.sum) != (number, sum), canceled <= number {
      merge(turned(to: number, sum: sum))
    }
  }

  /// Returns the decision that cancels what `earlier` canceled, or `nil` if the
  /// decision cannot be turned again.
  func turned(to earlier: Cancellation) -> Cancellation? {
    turns < .max ? turned(to: earlier.canceled, sum: earlier.sum) : nil
  }

  private func turned(to number: UInt64, sum: WideInt) -> Cancellation {
    // A received decision can have any number of turns.
    Cancellation(
      checked: decided, turns: turns < .max ? turns + 1 : turns,
      canceled: number, sum: sum)
  }
}

extension Cancellation: Lattice {
  /// Keeps the decision on more changes, or the one that was turned more often.
  ///
  /// Two decisions with the same numbers cancel different sums only if a device
  /// ID was used twice. The greater one stays.
  package mutating func merge(_ other: Cancellation) {
    if self < other { self = other }
  }
}

extension Cancellation: Comparable {
  package static func < (a: Cancellation, b: Cancellation) -> Bool {
    (a.decided, a.turns, a.canceled, a.sum)
      < (b.decided, b.turns, b.canceled, b.sum)
  }
}

extension Digest {
  mutating func add(_ cancellation: Cancellation) {
    add(cancellation.decided)
    add(cancellation.turns)
    add(cancellation.canceled)
    add(UInt64(bitPattern: cancellation.sum.high))
    add(cancellation.sum.low)
  }
}

extension Cancellation {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  package func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      precondition(
        turns > 0 ? canceled <= decided : canceled == decided,
        "more changes are canceled than decided on: \(self)")
      precondition(
        decided > 0 || turns == 0, "a decision on no changes: \(self)")
      precondition(
        canceled > 0 || sum == 0, "a sum of no changes: \(self)")
    #endif
  }
}

extension Cancellation: Codable {
  private enum CodingKeys: CodingKey { case decided, turns, canceled, sum }

  /// Encodes the decision.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(decided, forKey: .decided)
    try container.encode(turns, forKey: .turns)
    try container.encode(canceled, forKey: .canceled)
    // In decimal digits, because JSON has no integers of 128 bits.
    try container.encode("\(sum)", forKey: .sum)
  }

  /// Decodes a decision.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let digits = try container.decode(String.self, forKey: .sum)
    guard let sum = WideInt(digits: digits),
      let decoded = Cancellation(
        decided: try container.decode(UInt64.self, forKey: .decided),
        turns: try container.decode(UInt64.self, forKey: .turns),
        canceled: try container.decode(UInt64.self, forKey: .canceled),
        sum: sum)
    else {
      throw decoder.corrupted(
        "\"decided\" must be above zero, \"canceled\" must equal it, or be at "
          + "most as great after turns, and \"sum\" must be an integer, zero "
          + "if no change is canceled.")
    }
    self = decoded
  }
}

// A decision: how often it was turned, how many decided changes are not
// canceled if it was, and the sum of those that are. The store writes the last
// decided change.
extension WireWriter {
  mutating func cancellation(_ cancellation: Cancellation) {
    varint(cancellation.turns)
    if cancellation.turns > 0 {
      varint(cancellation.decided - cancellation.canceled)
    }
    if cancellation.canceled > 0 { wide(cancellation.sum) }
  }
}

extension WireReader {
  /// Reads a decision on the changes up to `decided`, which is above zero.
  mutating func cancellation(
    of decided: UInt64
  ) throws(WireError) -> Cancellation {
    let turns = try varint()
    let start = offset
    let kept = turns > 0 ? try varint() : 0
    try require(
      kept <= decided, .invalid, "no more changes than were decided on",
      at: start)
    return Cancellation(
      checked: decided, turns: turns, canceled: decided - kept,
      sum: kept < decided ? try wide() : 0)
  }
}
