// SPDX-License-Identifier: Apache-2.0

extension Ledger: DotStore {
  /// Whether the ledger has no entries.
  package var isEmpty: Bool { lines.isEmpty }

  package func impliesContext(_ clock: VectorClock) -> Bool {
    // Folded entries have no dots, so only an empty ledger implies its context.
    lines.isEmpty && clock.isEmpty
  }

  package var dots: VectorClock {
    VectorClock(
      greatest: lines.mapValues { line in
        line.tail.reduce(0) { max($0, $1.sequence) }
      })
  }

  /// Joins the entries of each device.
  ///
  /// The merge ignores the contexts, because entries are never removed.
  package mutating func merge(
    _ other: Ledger, seen: some DotSet, otherSeen: some DotSet
  ) {
    merge(other)
  }
}

extension Ledger: FieldStore {
  public static var kind: FieldKind { .ledger }

  package static func boxed(
    _ field: consuming Causal<Self>
  ) -> FieldState.Box { .ledger(field) }

  package static func unboxed(_ box: FieldState.Box) -> Causal<Self>? {
    if case .ledger(let field) = box { field } else { nil }
  }

  package mutating func apply(
    _ save: EditContext, observed: Self?
  ) -> [Siblings<Stamped>.Element] {
    if let retraction = save.retraction {
      turn(retraction.turns)
      if save.edit == nil { return [] }
    }
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

  /// Returns the part of the observed entries that `current` contains.
  ///
  /// `current` has fewer entries if the replica was restored after the
  /// observation.
  private func held(by current: Ledger) -> Ledger {
    var held: [DeviceID: DeviceEntries] = [:]
    for (device, line) in lines {
      guard let mine = current.lines[device] else { continue }
      held[device] = line.count < mine.count ? line : mine
    }
    return Ledger(lines: held)
  }

  package var hasContent: Bool {
    lines.values.contains {
      // Only folded entries are canceled, and the format limits their number.
      $0.cancellation.canceled < min($0.count, Limits.foldedEntries)
    }
  }

  /// Returns whether both ledgers have the same entries and cancellations.
  ///
  /// Entries can differ although their total is the same.
  package func shows(sameAs other: Self) -> Bool {
    Set(lines.keys).union(other.lines.keys).allSatisfy { device in
      let mine = lines[device] ?? DeviceEntries()
      let theirs = other.lines[device] ?? DeviceEntries()
      return mine.hasEntries(of: theirs)
        && mine.cancellation.canceled == theirs.cancellation.canceled
    }
  }

  package var byteBound: Int {
    lines.values.reduce(0) { sum, line in
      line.tail.reduce(sum + 2 * ByteBound.sums) {
        $0 + ByteBound.entry(memo: $1.memo)
      }
    }
  }

  package func content(changedBy part: Self) -> Self {
    var content: [DeviceID: DeviceEntries] = [:]
    for (device, theirs) in part.lines {
      content[device] = lines[device]?.content(changedBy: theirs)
    }
    return Ledger(lines: content)
  }

  package func forEachSave(_ body: (Dot, Timestamp?) -> Void) {
    for (device, line) in lines {
      for entry in line.tail { body(Dot(device, entry.sequence), entry.time) }
    }
  }

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

extension Ledger {
  /// Returns `edit`, because entries are never replaced.
  package func overwriting(
    with other: Self, after edit: FieldEdit?
  ) -> (edit: FieldEdit, supersedesAll: Bool)? {
    edit.map { ($0, false) }
  }

  package func undoContent(
    of element: Value?, by device: DeviceID
  ) -> UndoContent {
    .sums(
      UndoSums(
        device: device, next: (lines[device]?.count ?? 0) + 1,
        decisions: decisions))
  }

  package func opposites(since sums: UndoSums) -> [LedgerEdit.Entry] {
    let own = lines[sums.device] ?? DeviceEntries()
    var opposites: [LedgerEdit.Entry] = []
    for entry in own.tail.suffix(
      Int(clamping: own.count + 1 - (sums.next ?? 1)))
    {
      opposites.append(-WideInt(entry.amount), memo: entry.memo)
    }
    return opposites
  }

  package func edit(
    restoring content: UndoRestoration, by device: DeviceID
  ) -> FieldEdit? {
    guard case .amounts(let amounts) = content else { return nil }
    var edit = LedgerEdit()
    for entry in amounts { edit.append(entry.amount, memo: entry.memo) }
    return .append(edit)
  }
}

extension DeviceEntries {
  fileprivate func equivocations(with other: DeviceEntries) -> [UInt64] {
    // A folded entry is only part of a sum, so compare the entries that neither
    // side folded.
    let start = max(folded, other.folded)
    let pairs = zip(
      tail.dropFirst(Int(clamping: start - folded)),
      other.tail.dropFirst(Int(clamping: start - other.folded)))
    return pairs.compactMap { $0 == $1 ? nil : $0.sequence }
  }
}

// A fragment contains the new entries of some devices. If it includes decisions,
// a receiver accepts or refuses it as a whole.
extension Ledger {
  package static var supportsFragments: Bool { true }

  package var size: Int { lines.values.reduce(0) { $0 + $1.tail.count } }

  package var isWhole: Bool { !decisions.isEmpty }

  package func part(
    _ missing: MissingPart
  ) -> (store: Self, continued: Set<DeviceID>)? {
    let decides = !missing.receiverHasRemovals && isWhole
    var parts: [DeviceID: DeviceEntries] = [:]
    var continued: Set<DeviceID> = []
    for entry in missing.clock.entries {
      let device = entry.device
      guard let line = lines[device] else { continue }
      let known = missing.known[device]
      let (part, isContinued) = line.part(
        since: entry.count > known ? known : nil, decides: decides)
      guard let part else { continue }
      // A message cannot count more entries before a fragment.
      if part.folded > Limits.foldedEntries { return nil }
      parts[device] = part
      if isContinued { continued.insert(device) }
    }
    return (Ledger(lines: parts), continued)
  }

  package func part(of devices: Set<DeviceID>) -> Self {
    Ledger(lines: lines.filter { devices.contains($0.key) })
  }

  package mutating func merge(
    part: Self, of fragment: Fragment, seen: some DotSet,
    otherSeen: some DotSet
  ) {
    merge(part, continued: fragment.continued)
  }
}

extension DeviceEntries {
  /// Returns the entries of saves after the `n`-th, and whether the result
  /// omits earlier entries.
  ///
  /// - Parameters:
  ///   - n: The number of the last known save, or `nil` if no entry is new.
  ///   - decides: Whether the result includes the decision.
  fileprivate func part(
    since n: UInt64?, decides: Bool
  ) -> (DeviceEntries?, isContinued: Bool) {
    let old = n.map { n in tail.partitioningIndex { $0.sequence > n } }
    let decision = decides ? cancellation : Cancellation()
    // Folded entries may be new, unless the receiver has an entry after them.
    let isContinued = old != 0
    let start = old ?? tail.count
    if isContinued, start == tail.count, decision == Cancellation() {
      return (nil, false)
    }
    return (
      DeviceEntries(
        folded: folded + UInt64(start), sum: isContinued ? 0 : foldedSum,
        cancellation: decision, tail: Array(tail[start...])),
      isContinued
    )
  }
}

extension FieldState {
  /// The total of a ledger, or zero for another kind of field.
  public var total: Int64 { store(of: Ledger.self)?.total ?? 0 }
}

/// The entries that a save appends, after an optional cancellation.
public struct LedgerEdit: Hashable, Sendable {
  /// An amount and its purpose.
  public struct Entry: Hashable, Sendable {
    /// The amount.
    public let amount: Int64
    /// The purpose of the amount.
    public let memo: Value?
  }

  /// Whether the edit cancels all earlier entries.
  public internal(set) var isCancelled = false
  /// The entries to append.
  public internal(set) var entries: [Entry] = []

  /// Creates an edit without effect.
  public init() {}

  /// An edit that cancels every entry.
  public static var cancelling: LedgerEdit {
    var edit = LedgerEdit()
    edit.isCancelled = true
    return edit
  }

  /// Appends an entry.
  public mutating func append(_ amount: Int64, memo: Value?) {
    entries.append(Entry(amount: amount, memo: memo))
  }

  /// Returns the total of a ledger after the edit, if its total before the edit
  /// is `total`.
  public func applied(to total: Int64) -> Int64 {
    let sum = entries.reduce(isCancelled ? 0 : WideInt(total)) {
      $0 + WideInt($1.amount)
    }
    return Int64(clamping: sum)
  }
}

extension LedgerEdit: KindEdit {
  var mayContainReferences: Bool { false }

  var removes: Bool { isCancelled }

  var byteBound: Int {
    entries.reduce(0) { $0 + ByteBound.entry(memo: $1.memo) }
  }

  var canonical: LedgerEdit {
    var edit = self
    edit.entries = entries.map {
      Entry(amount: $0.amount, memo: $0.memo?.canonical)
    }
    return edit
  }

  mutating func append(_ later: LedgerEdit) -> Bool {
    if later.isCancelled { self = .cancelling }
    entries += later.entries
    return true
  }

  func add(to digest: inout Digest) {
    digest.add(isCancelled ? 7 : 6)
    for entry in entries {
      digest.add(UInt64(bitPattern: entry.amount))
      digest.add(entry.memo)
    }
  }
}
