// SPDX-License-Identifier: Apache-2.0

extension FieldState {
  /// Makes a fragment of what is beyond `known`.
  ///
  /// - Parameters:
  ///   - horizon: Contains every save that left nothing behind in the field.
  ///   - elements: Of a set, finds the elements with a mark beyond `known`.
  /// - Returns: `nil` if the field has to be sent as a whole.
  func fragment(
    since known: VectorClock, horizon: VectorClock, elements: () -> [Value]
  ) -> Fragment? {
    // What the fragment does not name, the receiver must have heard of.
    let isCovered = horizon.isContained(in: known)
    switch self {
    case .register, .existence: return nil
    case .set(let field):
      return isCovered
        ? whole(
          .set(Causal(field.store.part(elements()), clock)), known) : nil
    case .counter(let field):
      let cancels = !isCovered && !field.store.cancelled.isEmpty
      let part = field.store.part(since: known, cancels: cancels)
      return cancels
        ? whole(.counter(Causal(part, clock)), known)
        : byDevice(known) { .counter(Causal(part, $0)) }
    case .ledger(let field):
      let cancels =
        !isCovered && field.store.lines.values.contains { $0.cancelled > 0 }
      let (part, continued) = field.store.part(
        since: known, of: clock, cancels: cancels)
      return cancels
        ? whole(.ledger(Causal(part, clock)), known, continued)
        : byDevice(known, continued) { .ledger(Causal(part, $0)) }
    }
  }

  private func whole(
    _ state: FieldState, _ known: VectorClock, _ continued: Set<DeviceID> = []
  ) -> Fragment {
    Fragment(
      state: state, basis: clock.intersection(known), continued: continued)
  }

  private func byDevice(
    _ known: VectorClock, _ continued: Set<DeviceID> = [],
    _ state: (VectorClock) -> FieldState
  ) -> Fragment {
    let news = clock.saves(beyond: known)
    return Fragment(
      state: state(news), basis: news.intersection(known), continued: continued)
  }
}

extension DotMap {
  /// The siblings of some keys, each of which has some.
  fileprivate func part(_ keys: [Value]) -> DotMap {
    DotMap(keys.map { (key: $0, siblings: self[$0]) })
  }
}

extension Tally {
  /// The entries beyond `known`.
  ///
  /// - Parameter cancels: Whether to include everything that is cancelled.
  fileprivate func part(since known: VectorClock, cancels: Bool) -> Tally {
    let new = entries.beyond(known) { $0.sequence }
    guard cancels else { return Tally(entries: new) }
    // What is cancelled is in an entry, here in its own where no later one is new.
    return Tally(
      entries: new.union(cancelled) { $0.isBefore($1) }, cancelled: cancelled)
  }
}

extension LedgerLines {
  /// The entries beyond `known`, and the devices of which the earlier ones are
  /// left out.
  ///
  /// - Parameters:
  ///   - clock: What the ledger has seen.
  ///   - cancels: Whether to include everything that is cancelled.
  fileprivate func part(
    since known: VectorClock, of clock: VectorClock, cancels: Bool
  ) -> (LedgerLines, continued: Set<DeviceID>) {
    var parts: [DeviceID: DeviceEntries] = [:]
    var continued: Set<DeviceID> = []
    for entry in clock.entries {
      let device = entry.device
      guard let line = lines[device] else { continue }
      let isNew = entry.count > known[device]
      let (part, isContinued) = line.part(
        since: isNew ? known[device] : nil, cancels: cancels)
      guard let part else { continue }
      parts[device] = part
      if isContinued { continued.insert(device) }
    }
    return (LedgerLines(lines: parts), continued)
  }
}

extension DeviceEntries {
  /// The entries of saves after the `n`-th, and whether earlier ones are left out.
  ///
  /// - Parameter n: `nil` if none is new.
  fileprivate func part(
    since n: UInt64?, cancels: Bool
  ) -> (DeviceEntries?, isContinued: Bool) {
    let old = n.map { n in tail.partitioningIndex { $0.sequence > n } }
    let (j, sum) = cancels ? (cancelled, cancelledSum) : (0, 0)
    // What is folded may be new, unless an entry after it is known.
    let isContinued = old != 0
    let start = old ?? tail.count
    if isContinued, start == tail.count, j == 0 { return (nil, false) }
    return (
      DeviceEntries(
        folded: folded + UInt64(start), sum: isContinued ? 0 : foldedSum,
        cancelled: j, cancelledSum: sum, tail: Array(tail[start...])),
      isContinued
    )
  }
}
