// SPDX-License-Identifier: Apache-2.0

/// What is kept beside a large field, so that a delta has only what is new of it.
///
/// It is no part of the field's state: replicas with equal fields may differ in
/// it. It can be rebuilt at any time, with the field's clock as its horizon; the
/// field then travels as a whole once to each receiver that is behind.
struct LargeField: Sendable {
  /// Contains every save that the field has seen and that left nothing behind
  /// in it: a removal, a reset, a cancellation.
  ///
  /// Whoever has seen all of these needs to be told of no absence.
  private(set) var horizon: VectorClock
  /// Of a set, where its marks are; `nil` until it is needed.
  private var marks: MarkIndex?
  /// What has changed since a store has written it; `nil` if that is not known.
  var unwritten: Unwritten?

  /// What a store has not written yet.
  struct Unwritten {
    /// What the field had seen when it was written.
    let since: VectorClock
    /// Of a set, the elements that have changed.
    var elements: Set<Value> = []
  }

  /// The number of indexed marks, stale ones included.
  var markCount: Int { marks?.count ?? 0 }

  /// - Parameter horizon: Contained in the field's clock.
  init(horizon: VectorClock) { self.horizon = horizon }

  /// Notes a save of the replica's own.
  ///
  mutating func note(_ save: EditContext) {
    if let retraction = save.retraction {
      horizon.advance(to: save.dot)
      note(retraction.elements.keys, at: save.dot)
      if save.edit == nil { return }
    }
    guard let edit = save.edit, !save.drops else {
      horizon.advance(to: save.dot)
      return (marks, unwritten) = (nil, nil)
    }
    if edit.removes { horizon.advance(to: save.dot) }
    guard case .members(let edit) = edit else { return }
    if edit.isCleared { return (marks, unwritten) = (nil, nil) }
    note(edit.members.keys, at: save.dot)
  }

  /// Notes that a save has changed some elements.
  private mutating func note(_ elements: some Sequence<Value>, at dot: Dot) {
    for element in elements {
      marks?.add(element, at: dot)
      unwritten?.elements.insert(element)
    }
  }

  /// Notes that a whole field was joined.
  ///
  /// - Parameter known: What the field here had seen before.
  mutating func recordJoin(_ clock: VectorClock, over known: VectorClock) {
    horizon.merge(clock.saves(beyond: known))
    (marks, unwritten) = (nil, nil)
  }

  /// Notes that a fragment was joined.
  mutating func recordJoin(_ fragment: Fragment, over known: VectorClock) {
    if let set = fragment.state.store(of: DotMap.self) {
      // This replica knows all saves in the horizon of the sender.
      return recordJoin(set, over: known)
    }
    if fragment.isWhole { recordJoin(fragment.state.clock, over: known) }
    // If the device is forked, known numbers may have other entries.
    unwritten = nil
  }

  private mutating func recordJoin(
    _ part: DotMap, over known: VectorClock
  ) {
    marks?.add(part, over: known)
    for entry in part.entries { unwritten?.elements.insert(entry.key) }
  }

  /// Notes that entries of a ledger have been folded.
  mutating func recordFold() { unwritten = nil }

  /// Makes a fragment of what is beyond `known`.
  ///
  /// - Returns: `nil` if the field has to be sent as a whole.
  mutating func fragment(
    of state: FieldState, since known: VectorClock
  ) -> Fragment? {
    state.fragment(since: known, horizon: horizon) {
      guard let set = state.field(of: DotMap.self) else { return [] }
      return marks.elements(of: set.store, set.clock, since: known)
    }
  }
}

/// For each device, which elements of a set its saves have marked.
///
/// It is the inverse of the marks, as a ``ChangeIndex`` is of the clocks of
/// fields.
private struct MarkIndex: Sendable {
  private struct Entry {
    let sequence: UInt64
    let element: Value
  }

  /// Sorted by sequence number.
  ///
  /// Some entries are stale: their element has lost the mark.
  private var byDevice = RunMap<DeviceID, [Entry]>()
  private(set) var count = 0

  /// Adds a mark of a save that is later than all others of its device.
  mutating func add(_ element: Value, at dot: Dot) {
    count += 1
    byDevice.update(dot.device, default: []) {
      $0.append(Entry(sequence: dot.sequence, element: element))
    }
  }

  /// Adds the marks in a set that are beyond `known`, which contains those that
  /// were here.
  mutating func add(_ set: DotMap, over known: VectorClock) {
    var new: [(dot: Dot, element: Value)] = []
    for (element, marks) in set.entries {
      for mark in marks where !known.contains(mark.dot) {
        new.append((mark.dot, element))
      }
    }
    new.sort { $0.dot.sequence < $1.dot.sequence }
    for mark in new { add(mark.element, at: mark.dot) }
  }

  /// Whether most entries are stale.
  func isStale(_ set: DotMap) -> Bool { count > 2 * set.count + 16 }

  /// The elements with a mark of a save after the `n`-th of a device, and some
  /// that had one.
  func elements(of device: DeviceID, since n: UInt64) -> [Value] {
    let entries = byDevice[device] ?? []
    return entries[entries.partitioningIndex { $0.sequence > n }...]
      .map(\.element)
  }
}

extension MarkIndex? {
  /// The elements of a set that have a mark beyond `known`, each once.
  ///
  /// - Parameter clock: What the set has seen.
  /// - Complexity: O(*k* + *r*) for *k* such marks and *r* devices, once the marks
  ///   are indexed.
  fileprivate mutating func elements(
    of set: DotMap, _ clock: VectorClock, since known: VectorClock
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
