// SPDX-License-Identifier: Apache-2.0

extension PNCounter: DotStore {
  /// Whether the counter has no changes.
  package var isEmpty: Bool { entries.isEmpty }

  package func impliesContext(_ clock: VectorClock) -> Bool {
    entries.isEmpty && clock.isEmpty
  }

  package var dots: VectorClock {
    var clock = VectorClock()
    for entry in entries {
      clock.advance(to: Dot(entry.device, entry.sequence))
    }
    return clock
  }

  /// Keeps the later entry of each device.
  ///
  /// The merge ignores the contexts, because entries are never removed.
  package mutating func merge(
    _ other: PNCounter, seen: some DotSet, otherSeen: some DotSet
  ) {
    merge(other)
  }
}

extension PNCounter: FieldStore {
  public static var kind: FieldKind { .counter }

  package static func boxed(
    _ field: consuming Causal<Self>
  ) -> FieldState.Box { .counter(field) }

  package static func unboxed(_ box: FieldState.Box) -> Causal<Self>? {
    if case .counter(let field) = box { field } else { nil }
  }

  package static var mayOverflow: Bool { true }

  package func allows(_ edit: FieldEdit, by device: DeviceID) -> Bool {
    guard case .count(let edit) = edit else { return true }
    return entry(of: device).canAdd(edit.increments, edit.decrements)
  }

  package mutating func apply(
    _ save: EditContext, observed: Self?
  ) -> [Siblings<Stamped>.Element] {
    if let retraction = save.retraction {
      turn(retraction.turns)
      if save.edit == nil { return [] }
    }
    let observed = observed.map { $0.held(by: self) }
    guard case .count(let edit) = save.edit else {
      cancel(observed: observed)
      return []
    }
    if save.drops || edit.isReset { cancel(observed: observed) }
    // A reset alone leaves no entry. Any other edit leaves one, even if it is
    // zero.
    if edit.increments > 0 || edit.decrements > 0 || !edit.isReset {
      let entry = add(
        edit.increments, edit.decrements, on: save.dot.device,
        sequence: save.dot.sequence)
      precondition(entry != nil, "a save checks before that no sum overflows")
    }
    return []
  }

  /// Returns the part of the observed entries that `current` contains.
  ///
  /// `current` has fewer entries if the replica was restored after the
  /// observation.
  private func held(by current: PNCounter) -> PNCounter {
    PNCounter(
      entries: entries.compactMap { entry in
        guard let mine = current.entries.entry(of: entry.device) else {
          return nil
        }
        return entry.sequence < mine.sequence ? entry : mine
      })
  }

  /// The sum of each device's changes that are not canceled.
  var amounts: [DeviceID: WideInt] {
    let pairs = entries.compactMap { entry -> (DeviceID, WideInt)? in
      let gone = cancellation(of: entry.device)
      return entry.sequence == gone.canceled
        ? nil : (entry.device, entry.sum - gone.sum)
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  package var hasContent: Bool {
    entries.contains { $0.sequence > cancellation(of: $0.device).canceled }
  }

  package var shownValues: [Value]? { hasContent ? [.int(value)] : nil }

  package func shows(sameAs other: Self) -> Bool { value == other.value }

  /// It includes the decisions of a later reset.
  package var byteBound: Int { 2 * ByteBound.sums * entries.count }

  package func forEachSave(_ body: (Dot, Timestamp?) -> Void) {
    for entry in entries { body(Dot(entry.device, entry.sequence), nil) }
  }

  package var contributors: [DeviceID] { entries.map(\.device) }

  package func adds(sameAs other: Self, by device: DeviceID) -> Bool {
    entry(of: device) == other.entry(of: device)
  }

  package func equivocations(with other: Self) -> [Dot] {
    other.entries.compactMap { theirs in
      let mine = entry(of: theirs.device)
      return theirs.sequence == mine.sequence && theirs != mine
        ? Dot(mine.device, mine.sequence) : nil
    }
  }
}

extension PNCounter {
  package func overwriting(
    with other: Self, after edit: FieldEdit?
  ) -> (edit: FieldEdit, supersedesAll: Bool)? {
    var target = other.value
    if case .count(let edit) = edit { target = edit.applied(to: target) }
    return target == value
      ? nil : (.count(CounterEdit(by: target, isReset: true)), true)
  }

  package func undoContent(
    of element: Value?, by device: DeviceID
  ) -> UndoContent {
    .sums(
      UndoSums(
        device: device, sum: entry(of: device).sum,
        decisions: decisions))
  }

  package func opposites(since sums: UndoSums) -> [LedgerEdit.Entry] {
    var opposites: [LedgerEdit.Entry] = []
    let sum = sums.sum - entry(of: sums.device).sum
    if sum != 0 { opposites.append(sum, memo: nil) }
    return opposites
  }

  package func edit(
    restoring content: UndoRestoration, by device: DeviceID
  ) -> FieldEdit? {
    guard case .amounts(let amounts) = content else { return nil }
    let sum = amounts.reduce(0) { $0 + WideInt($1.amount) }
    var edit = CounterEdit()
    guard let increments = UInt64(exactly: max(sum, 0)),
      let decrements = UInt64(exactly: max(-sum, 0)),
      entry(of: device).canAdd(increments, decrements)
    else { return nil }
    (edit.increments, edit.decrements) = (increments, decrements)
    return .count(edit)
  }
}

// A fragment contains the entries of some devices. If it includes decisions, a
// receiver accepts or refuses it as a whole.
extension PNCounter {
  package static var supportsFragments: Bool { true }

  package var size: Int { entries.count }

  package var isWhole: Bool { !canceled.isEmpty }

  package func part(
    _ missing: MissingPart
  ) -> (store: Self, continued: Set<DeviceID>)? {
    let new = entries.beyond(missing.known) { $0.sequence }
    if missing.receiverHasRemovals || canceled.isEmpty {
      return (PNCounter(entries: new), [])
    }
    // A canceled sum can be older than the entry that it belongs to.
    let decided = canceled.map { entry(of: $0.device) }
    let parts = new.union(decided) { $0.isBefore($1) }
    return (PNCounter(entries: parts, canceled: canceled), [])
  }

  package func part(of devices: Set<DeviceID>) -> Self {
    PNCounter(entries: entries.filter { devices.contains($0.device) })
  }
}

extension FieldState {
  /// The value of a counter, or zero for another kind of field.
  public var count: Int64 { store(of: PNCounter.self)?.value ?? 0 }
}

/// A change of a counter: an optional reset, then increments and decrements.
public struct CounterEdit: Hashable, Sendable {
  /// Whether the edit cancels all earlier changes.
  public internal(set) var isReset = false
  /// The sum of the increments.
  public internal(set) var increments: UInt64 = 0
  /// The sum of the decrements.
  public internal(set) var decrements: UInt64 = 0

  /// Creates an edit without effect.
  public init() {}

  /// Creates a change by `amount`, with an optional reset before it.
  public init(by amount: Int64, isReset: Bool = false) {
    self.isReset = isReset
    if amount >= 0 {
      increments = amount.magnitude
    } else {
      decrements = amount.magnitude
    }
  }

  /// The edit with increments and decrements exchanged.
  var opposite: CounterEdit {
    var edit = self
    (edit.increments, edit.decrements) = (decrements, increments)
    return edit
  }

  /// Cancels all earlier changes, including those of this edit.
  mutating func reset() {
    self = CounterEdit()
    isReset = true
  }

  /// Returns the value of a counter after the edit, if its value before the
  /// edit is `value`.
  public func applied(to value: Int64) -> Int64 {
    let change = WideInt(increments) - WideInt(decrements)
    return Int64(clamping: (isReset ? 0 : WideInt(value)) + change)
  }
}

extension CounterEdit: KindEdit {
  var mayContainReferences: Bool { false }

  var removes: Bool { isReset }

  var byteBound: Int {
    increments == 0 && decrements == 0 && isReset ? 0 : ByteBound.sums
  }

  mutating func append(_ later: CounterEdit) -> Bool {
    var edit = self
    if later.isReset { edit.reset() }
    let p = edit.increments.addingReportingOverflow(later.increments)
    let n = edit.decrements.addingReportingOverflow(later.decrements)
    if p.overflow || n.overflow { return false }
    (edit.increments, edit.decrements) = (p.partialValue, n.partialValue)
    self = edit
    return true
  }

  func add(to digest: inout Digest) {
    digest.add(isReset ? 3 : 2)
    digest.add(increments)
    digest.add(decrements)
  }
}

// Each entry: the reference to its save, with a flag for a decision, and its
// sums. With the flag, two parts follow: how many saves earlier the decided
// changes end, and the decision.
extension PNCounter {
  package func write(to writer: inout FieldWriter) {
    writer.head(entries.count)
    for (i, entry) in entries.enumerated() {
      let decision = canceled.entry(of: entry.device)?.decision
      writer.reference(
        to: Dot(entry.device, entry.sequence), isFirst: i == 0,
        flags: (decision == nil ? 0 : 1, bits: 1))
      writer.out.varint(entry.increments)
      writer.out.varint(entry.decrements)
      guard let decision else { continue }
      writer.out.varint(entry.sequence - decision.decided)
      writer.out.cancellation(decision)
    }
  }

  package static func read(
    from reader: inout FieldReader
  ) throws(WireError) -> Self {
    try reader.check(size: 3, "entries")
    var (entries, canceled) = ([] as [Entry], [] as [Canceled])
    var lastLine = -1
    for i in 0..<reader.count {
      let start = reader.bytes.offset
      let (index, isDecided) = try reader.reference(isFirst: i == 0, flags: 1)
      let (dot, line) = reader.storeDot(at: index)
      try reader.bytes.require(
        line > lastLine, .invalid, "sorted entries, one for each device",
        at: start)
      lastLine = line
      let entry = Entry(
        device: dot.device, sequence: dot.sequence,
        increments: try reader.bytes.varint(),
        decrements: try reader.bytes.varint())
      let decision = isDecided == 0 ? nil : try decision(of: dot, from: &reader)
      guard reader.isBuilding else { continue }
      entries.append(entry)
      if let decision {
        canceled.append(Canceled(device: dot.device, decision: decision))
      }
    }
    return PNCounter(entries: entries, canceled: canceled)
  }

  /// Reads the decision on the changes of a device up to `last`, or earlier
  /// ones.
  private static func decision(
    of last: Dot, from reader: inout FieldReader
  ) throws(WireError) -> Cancellation {
    reader.fragment.isWhole = true
    let start = reader.bytes.offset
    let distance = try reader.bytes.varint()
    try reader.bytes.require(
      distance < last.sequence, .invalid, "a decision on at least one change",
      at: start)
    let decision = try reader.bytes.cancellation(of: last.sequence - distance)
    try reader.bytes.require(
      Entry.isSum(decision.sum), .invalid, "a sum of increments and decrements",
      at: start)
    return decision
  }
}
