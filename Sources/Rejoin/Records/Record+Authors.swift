// SPDX-License-Identifier: Apache-2.0

// Who wrote what: a dot names the device and the save.
extension Record {
  /// The writes of a register that no other has superseded, the visible one
  /// first.
  public func writes(of name: String) -> [Write] {
    siblings(of: name).map { Write($0) }
  }

  /// The visible write of a register: who made it, and when.
  public func provenance(of name: String) -> Write? {
    siblings(of: name).first.map { Write($0) }
  }

  /// The elements of a set, each with the saves that inserted it.
  public func insertions(of name: String) -> [Value: Set<Dot>] {
    let set = self[FieldKey(name, .set)].store(of: DotMap.self) ?? DotMap()
    let saves = set.entries.map { ($0, Set($1.map(\.dot))) }
    return Dictionary(uniqueKeysWithValues: saves)
      .filter { visible($0.key) != nil }
  }

  /// The sum of each device's changes to a counter that no reset has cancelled.
  ///
  /// Together, they are the counter's value before it is clamped to `Int64`.
  public func amounts(of name: String) -> [DeviceID: Int128] {
    self[FieldKey(name, .counter)].store(of: Tally.self)?.amounts ?? [:]
  }

  /// The entries of a ledger that are not folded, ordered by time.
  public func entries(of name: String) -> [LedgerEntry] {
    let ledger = self[FieldKey(name, .ledger)].store(of: LedgerLines.self)
    return (ledger?.entries ?? []).map { LedgerEntry($0.entry, by: $0.device) }
      .sorted { ($0.time, $0.dot) < ($1.time, $1.dot) }
  }
}

/// An entry of a ledger, with the save that appended it.
public struct LedgerEntry: Hashable, Sendable {
  /// The save that appended the entry.
  public let dot: Dot
  /// When it was appended.
  public let time: Timestamp
  /// The amount, negative for a reversal.
  public let amount: Int64
  /// What it was for.
  public let memo: Value?

  init(_ entry: DeviceEntries.Entry, by device: DeviceID) {
    dot = Dot(device, entry.sequence)
    (time, amount, memo) = (entry.time, entry.amount, entry.memo)
  }
}

extension Tally {
  /// The sum of each device's changes that no reset has cancelled.
  fileprivate var amounts: [DeviceID: Int128] {
    let pairs = entries.compactMap { entry -> (DeviceID, Int128)? in
      let gone = cancelled.entry(of: entry.device)
      if entry == gone { return nil }
      return (entry.device, entry.amount - (gone?.amount ?? 0))
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }
}

extension Tally.Entry {
  fileprivate var amount: Int128 { Int128(increments) - Int128(decrements) }
}
