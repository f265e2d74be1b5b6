// SPDX-License-Identifier: Apache-2.0

/// Data about a large field that lets a delta contain only the new part.
///
/// The data is not part of the field's state: replicas with equal fields may
/// have different data. It can be rebuilt at any time, with the field's clock
/// as its horizon. Each receiver that is behind then gets the whole field once.
struct LargeField: Sendable {
  /// A clock that contains every removal, reset, cancellation and undo that the
  /// field has seen.
  ///
  /// These saves leave nothing in the field. A receiver that has seen all of
  /// them needs only additions.
  private(set) var horizon: VectorClock
  /// The index of a set's marks, or `nil` until it is needed.
  private(set) var marks: MarkIndex?
  /// An upper bound of the number of bytes that the field takes in a message, or
  /// `nil` until a save needs it.
  ///
  /// Edits and fragments only add to it.
  var byteBound: Int?
  /// The changes since a store wrote the field, or `nil` if they are unknown.
  var unwritten: Unwritten?

  /// The changes that a store must still write.
  struct Unwritten {
    /// The clock of the field when it was written.
    let since: VectorClock
    /// The changed elements of a set.
    var elements: Set<Value> = []
  }

  /// - Parameter horizon: A clock that the field's clock contains.
  init(horizon: VectorClock) { self.horizon = horizon }

  /// Records a local save.
  mutating func recordEdit(_ save: EditContext) {
    if let edit = save.edit { add(bytes: edit.byteBound) }
    if let retraction = save.retraction {
      horizon.advance(to: save.dot)
      for element in retraction.elements.keys { record(element, at: save.dot) }
      if save.edit == nil { return }
    }
    guard let edit = save.edit, !save.drops else {
      horizon.advance(to: save.dot)
      return (marks, unwritten) = (nil, nil)
    }
    if edit.removes { horizon.advance(to: save.dot) }
    guard case .members(let edit) = edit else { return }
    if edit.isCleared { return (marks, unwritten) = (nil, nil) }
    edit.forEachMember { element, _ in record(element, at: save.dot) }
  }

  /// Records that the field may have grown by some content and the saves in its
  /// clock.
  private mutating func add(bytes: Int) {
    if let bound = byteBound { byteBound = bound + bytes + ByteBound.save }
  }

  /// Records that a save changed an element.
  private mutating func record(_ element: Value, at dot: Dot) {
    marks?.add(element, at: dot)
    unwritten?.elements.insert(element)
  }

  /// Records the join of a whole field.
  ///
  /// - Parameter known: The saves that the field had seen before.
  mutating func recordJoin(_ clock: VectorClock, over known: VectorClock) {
    horizon.merge(clock.saves(beyond: known))
    (marks, unwritten, byteBound) = (nil, nil, nil)
  }

  /// Records the join of a fragment.
  mutating func recordJoin(_ fragment: Fragment, over known: VectorClock) {
    if byteBound != nil { add(bytes: fragment.state.byteBound) }
    if let set = fragment.state.store(of: ORSetStore.self) {
      // This replica has seen all saves in the sender's horizon.
      return recordJoin(set, over: known)
    }
    if fragment.isWhole { recordJoin(fragment.state.clock, over: known) }
    // If a device is forked, its known numbers may stand for other entries.
    unwritten = nil
  }

  private mutating func recordJoin(
    _ part: ORSetStore, over known: VectorClock
  ) {
    marks?.add(part, over: known)
    for entry in part.entries { unwritten?.elements.insert(entry.key) }
  }

  /// Records that entries of a ledger were folded.
  mutating func recordFold() { unwritten = nil }

  /// Creates a fragment of the changes beyond `known`.
  ///
  /// - Returns: The fragment, or `nil` if the whole field must be sent.
  mutating func fragment(
    of state: FieldState, since known: VectorClock
  ) -> Fragment? {
    state.fragment(since: known, horizon: horizon) {
      guard let set = state.field(of: ORSetStore.self) else { return [] }
      return marks.elements(of: set.store, set.clock, since: known)
    }
  }
}

/// The elements of a set that the saves of each device marked.
///
/// The index is the inverse of the marks, just as a ``ChangeIndex`` is the
/// inverse of the fields' clocks.
struct MarkIndex: Sendable {
  private struct Entry {
    let sequence: UInt64
    let element: Value
  }

  /// The entries of each device, sorted by sequence number.
  ///
  /// Some entries are stale because their element no longer has the mark.
  private var byDevice = RunMap<DeviceID, [Entry]>()
  /// The number of marks, including stale ones.
  private(set) var count = 0

  /// Adds a mark of a save that is later than all others of its device.
  mutating func add(_ element: Value, at dot: Dot) {
    count += 1
    byDevice.update(dot.device, default: []) {
      $0.append(Entry(sequence: dot.sequence, element: element))
    }
  }

  /// Adds the marks of a set beyond `known`, which contains all indexed marks.
  mutating func add(_ set: ORSetStore, over known: VectorClock) {
    var new: [(dot: Dot, element: Value)] = []
    for (element, marks) in set.entries {
      for mark in marks where !known.contains(mark.dot) {
        new.append((mark.dot, element))
      }
    }
    new.sort { $0.dot.sequence < $1.dot.sequence }
    for mark in new { add(mark.element, at: mark.dot) }
  }

  /// Returns whether most entries are stale.
  func isStale(_ set: ORSetStore) -> Bool { count > 2 * set.count + 16 }

  /// Returns the elements that a device marked after its save `n`, including
  /// stale ones.
  func elements(of device: DeviceID, since n: UInt64) -> [Value] {
    let entries = byDevice[device] ?? []
    return entries[entries.partitioningIndex { $0.sequence > n }...]
      .map(\.element)
  }
}

extension MarkIndex? {
  /// Returns the elements of a set that have a mark beyond `known`, each once.
  ///
  /// - Parameter clock: The saves that the set has seen.
  /// - Complexity: O(*k* + *r*), where *k* is the number of such marks and *r*
  ///   is the number of devices, after the marks are indexed.
  fileprivate mutating func elements(
    of set: ORSetStore, _ clock: VectorClock, since known: VectorClock
  ) -> [Value] {
    var index = self ?? MarkIndex()
    if self == nil || index.isStale(set) {
      index = MarkIndex()
      index.add(set, over: VectorClock())
      self = index
    }
    var elements: Set<Value> = []
    for entry in clock.entries where entry.count > known[entry.device] {
      for element in index.elements(
        of: entry.device, since: known[entry.device])
      where set[element].contains(where: { !known.contains($0.dot) }) {
        elements.insert(element)
      }
    }
    return Array(elements)
  }
}

/// The part of a changed large field that a store must write.
enum LargeFieldPatch {
  case nothing
  /// The whole field.
  case field
  case part(Fragment)
}

extension LargeField {
  /// Records that a store wrote the field.
  ///
  /// - Parameter isPatched: Whether to track the changes from now on.
  mutating func recordWritten(_ state: FieldState, isPatched: Bool) {
    unwritten = isPatched ? Unwritten(since: state.clock) : nil
  }

  /// Returns the changes of the field since a store wrote it.
  ///
  /// - Returns: The patch, or `nil` if the changes are unknown.
  func patch(of state: FieldState) -> LargeFieldPatch? {
    guard let unwritten else { return nil }
    let (clock, since) = (state.clock, unwritten.since)
    if clock == since { return unwritten.elements.isEmpty ? .nothing : nil }
    guard let set = state.store(of: ORSetStore.self) else {
      return state.fragment(since: since, horizon: horizon) { [] }
        .map { .part($0) }
    }
    // The fragment lists the lost elements, so it needs no horizon.
    let lost = unwritten.elements.filter { !set.contains($0) }
    var fragment = state.fragment(since: since, horizon: VectorClock()) {
      Array(unwritten.elements.subtracting(lost))
    }
    fragment?.lost = lost.sorted()
    return fragment.map { .part($0) }
  }
}
