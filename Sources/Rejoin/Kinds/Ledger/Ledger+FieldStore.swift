// SPDX-License-Identifier: Apache-2.0

extension LedgerLines: FieldStore {
  package static var kind: FieldKind { .ledger }

  package static var shapeCode: UInt8 { 5 }

  package static func boxed(
    _ field: consuming Causal<Self>
  ) -> FieldState.Box { .ledger(field) }

  package static func unboxed(_ box: FieldState.Box) -> Causal<Self>? {
    if case .ledger(let field) = box { field } else { nil }
  }

  package mutating func apply(
    _ save: EditContext, observed: Self?
  ) -> [Siblings<Stamped>.Element] {
    let observed = observed.map { $0.held(by: self) }
    guard case .append(let edit) = save.edit else {
      cancel(observed: observed)
      return []
    }
    if save.drops || edit.isCancelled { cancel(observed: observed) }
    for entry in edit.entries {
      append(entry.amount, memo: entry.memo, at: save.dot, time: save.time)
    }
    return []
  }

  /// Returns the observed entries, as far as `current` has them.
  ///
  /// It has fewer if the replica was restored since.
  private func held(by current: LedgerLines) -> LedgerLines {
    var held: [DeviceID: DeviceEntries] = [:]
    for (device, line) in lines {
      guard let mine = current.lines[device] else { continue }
      held[device] = line.count < mine.count ? line : mine
    }
    return LedgerLines(lines: held)
  }

  package var hasContent: Bool {
    lines.values.contains {
      // No more entries can be folded, and only folded ones are cancelled.
      $0.cancelled < min($0.count, Limits.foldedEntries)
    }
  }

  package func shows(sameAs other: Self) -> Bool { total == other.total }

  /// Returns how many entries each device has, and how many of them are
  /// cancelled.
  package func shown(in part: Self) -> [UInt64] {
    part.lines.keys.flatMap { device in
      lines[device].map { [$0.count, $0.cancelled] } ?? [0, 0]
    }
  }

  package func forEachSave(_ body: (Dot, Timestamp?) -> Void) {
    for (device, line) in lines {
      for entry in line.tail { body(Dot(device, entry.sequence), entry.time) }
    }
  }

  package var devices: [DeviceID] { contributors }

  package var contributors: [DeviceID] { Array(lines.keys) }

  package func adds(sameAs other: Self, by device: DeviceID) -> Bool {
    let (mine, theirs) = (lines[device], other.lines[device])
    return mine?.count == theirs?.count && mine?.sum == theirs?.sum
  }

  package func equivocations(with other: Self) -> [Dot] {
    other.lines.flatMap { device, theirs in
      (lines[device].map(theirs.equivocations) ?? []).map { Dot(device, $0) }
    }
  }
}

extension DeviceEntries {
  fileprivate func equivocations(with other: DeviceEntries) -> [UInt64] {
    // Folded entries are gone. Only entries that neither side folded can differ.
    let start = max(folded, other.folded)
    let pairs = zip(
      tail.dropFirst(Int(clamping: start - folded)),
      other.tail.dropFirst(Int(clamping: start - other.folded)))
    return pairs.compactMap { $0 == $1 ? nil : $0.sequence }
  }
}

// A part has the new entries of some devices. With cancelled entries, it has all
// of these, and a receiver takes it as a whole.
extension LedgerLines {
  package static var supportsFragments: Bool { true }

  package var size: Int { lines.values.reduce(0) { $0 + $1.tail.count } }

  package var isWhole: Bool { lines.values.contains { $0.cancelled > 0 } }

  package func part(
    _ missing: MissingPart
  ) -> (store: Self, continued: Set<DeviceID>)? {
    let cancels = !missing.hasRemovals && isWhole
    var parts: [DeviceID: DeviceEntries] = [:]
    var continued: Set<DeviceID> = []
    for entry in missing.clock.entries {
      let device = entry.device
      guard let line = lines[device] else { continue }
      let known = missing.known[device]
      let (part, isContinued) = line.part(
        since: entry.count > known ? known : nil, cancels: cancels)
      guard let part else { continue }
      parts[device] = part
      if isContinued { continued.insert(device) }
    }
    return (LedgerLines(lines: parts), continued)
  }

  package func part(of devices: Set<DeviceID>) -> Self {
    LedgerLines(lines: lines.filter { devices.contains($0.key) })
  }

  package mutating func merge(
    part: Self, continued: Set<DeviceID>, seen: some DotSet,
    otherSeen: some DotSet
  ) {
    merge(part, continued: continued)
  }
}

extension DeviceEntries {
  /// Returns the entries of saves after the `n`-th, and whether it leaves out
  /// earlier entries.
  ///
  /// - Parameter n: `nil` if no entry is new.
  fileprivate func part(
    since n: UInt64?, cancels: Bool
  ) -> (DeviceEntries?, isContinued: Bool) {
    let old = n.map { n in tail.partitioningIndex { $0.sequence > n } }
    let (j, sum) = cancels ? (cancelled, cancelledSum) : (0, 0)
    // Folded entries may be new, unless the receiver knows an entry after them.
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
