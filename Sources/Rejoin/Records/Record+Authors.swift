// SPDX-License-Identifier: Apache-2.0

// Who wrote what: a dot names the device and the save.
extension Record {
  /// The writes of a register that no other has superseded, the visible one
  /// first.
  public func writes(
    of name: String, _ kind: FieldKind = .register
  ) -> [Write] {
    siblings(of: name, kind).map { Write($0) }
  }

  /// The visible write of a register: who made it, and when.
  public func provenance(
    of name: String, _ kind: FieldKind = .register
  ) -> Write? {
    siblings(of: name, kind).first.map { Write($0) }
  }

  /// The elements of a set, each with the saves that inserted it.
  public func insertions(
    of name: String, _ kind: FieldKind = .set
  ) -> [Value: Set<Dot>] {
    var saves: [Value: Set<Dot>] = [:]
    forEach(name, kind) { state in
      for (element, dots) in state.insertions {
        saves[element, default: []].formUnion(dots)
      }
    }
    return saves.filter { visible($0.key) != nil }
  }

  /// The sum of each device's changes to a counter that no reset has cancelled.
  ///
  /// Together, they are the counter's value before it is clamped to `Int64`.
  public func amounts(of name: String) -> [DeviceID: Int128] {
    var amounts: [DeviceID: Int128] = [:]
    forEach(name, .counter) { state in
      guard case .counter(let field) = state else { return }
      amounts.merge(field.store.amounts, uniquingKeysWith: +)
    }
    return amounts
  }

  /// The entries of a ledger that are not folded, ordered by time.
  public func entries(of name: String) -> [LedgerEntry] {
    var entries: [LedgerEntry] = []
    forEach(name, .ledger) { state in
      guard case .ledger(let field) = state else { return }
      entries += field.store.entries.map {
        LedgerEntry($0.entry, by: $0.device)
      }
    }
    return entries.sorted { ($0.time, $0.dot) < ($1.time, $1.dot) }
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

extension FieldState {
  /// The elements of a set, each with the saves that inserted it.
  fileprivate var insertions: [(element: Value, saves: [Dot])] {
    switch self {
    case .set(let field):
      field.store.entries.map { ($0, $1.map(\.dot)) }
    case .removeWinsSet(let field):
      field.store.entries.filter { field.store.contains($0.key) }
        .map { ($0, $1.map(\.dot)) }
    default: []
    }
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
