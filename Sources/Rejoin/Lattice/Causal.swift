// SPDX-License-Identifier: Apache-2.0

/// A dot store with its causal context.
///
/// It is the lattice that apps compose and the state of every field of a
/// record. A join keeps the following content:
///
///     (m, c) ⊔ (m′, c′) =
///       ({x ∈ m ∩ m′} ∪ {x ∈ m, dot(x) ∉ c′} ∪ {x ∈ m′, dot(x) ∉ c}, c ⊔ c′)
///
/// The context is not stored if the dots in the store imply it. The most common
/// field, which contains one write, is therefore as small as that write.
package struct Causal<Store: DotStore>: Hashable, Sendable {
  /// The content that the saves wrote.
  ///
  /// Every dot in it is in ``context``.
  package private(set) var store: Store

  /// The context, or `nil` if and only if the store implies it.
  ///
  /// Equal values are therefore stored alike.
  private var explicit: CausalContext?

  /// Creates an empty value that has seen no saves.
  package init() { store = Store() }

  /// Creates a value from a store and its causal context.
  ///
  /// The context must contain every dot in the store.
  package init(store: Store, context: CausalContext) {
    self.store = store
    explicit = context
    elide()
  }

  /// Creates a value from a store and the clock of its causal context.
  ///
  /// A clock of `nil` stands for the context that the store implies.
  init(_ store: Store, _ clock: VectorClock?) {
    self.store = store
    explicit = clock.map { CausalContext($0) }
    if clock == nil { _checkInvariants() } else { elide() }
  }

  /// The saves that the value has seen.
  package var context: CausalContext {
    explicit ?? CausalContext(store.dots)
  }

  /// The contiguous part of ``context``.
  package var clock: VectorClock { explicit?.clock ?? store.dots }

  /// Returns the sequence number of a device's last save in ``clock``.
  func lastSave(of device: DeviceID) -> UInt64 {
    explicit?.clock[device] ?? store.lastDot(of: device)
  }

  /// Whether the dots in the store imply the context.
  var isContextImplied: Bool { explicit == nil }

  /// The number of devices in the context, or zero if the store implies it.
  var storedContextCount: Int { explicit?.clock.entries.count ?? 0 }

  /// Whether the value has seen no saves.
  package var isInitial: Bool { explicit == nil && store.isEmpty }

  /// Changes the store in the save `dot`.
  ///
  /// The context gets the save and all earlier saves of its device.
  mutating func update<Result>(
    at dot: Dot, _ change: (inout Store) -> Result
  ) -> Result {
    // The most common field contains writes of one device, which then
    // overwrites them.
    let isOnlyAuthor =
      explicit == nil
      && (store.isEmpty || store.onlyDot?.device == dot.device)
    if !isOnlyAuthor {
      var context = context
      context.insert(through: dot)
      explicit = context
    }
    let result = change(&store)
    if !isOnlyAuthor {
      elide()
    } else if !store.impliesContext(dot) {
      explicit = CausalContext(VectorClock(dot))
    }
    return result
  }

  /// Changes the store under the next dot of `device`.
  ///
  /// The context gets only that dot, because earlier ones may be missing.
  mutating func updateNext<Result>(
    of device: DeviceID, _ change: (inout Store, Dot) -> Result
  ) -> (dot: Dot, Result) {
    var context = context
    // Release the stored context, so it is changed in place.
    explicit = nil
    let dot = context.insertNext(of: device)
    explicit = context
    let result = change(&store, dot)
    elide()
    return (dot, result)
  }

  /// Changes the representation of the store, but not its meaning or its
  /// context.
  mutating func reshape(_ change: (inout Store) -> Void) {
    change(&store)
    _checkInvariants()
  }

  /// Drops the context if the store implies it.
  private mutating func elide() {
    if let context = explicit, context.dotCloud.isEmpty,
      store.impliesContext(context.clock)
    {
      explicit = nil
    }
    _checkInvariants()
  }
}

/// The saves of a device up to one save.
private struct Through: DotSet {
  let dot: Dot

  func contains(_ other: Dot) -> Bool {
    other.device == dot.device && other.sequence <= dot.sequence
  }
}

extension Causal: Lattice {
  /// Joins the stores under both contexts, and joins the contexts.
  ///
  /// - Complexity: The cost of the store's join, plus O(*r*), where *r* is the
  ///   number of devices.
  package mutating func merge(_ other: Causal) {
    if isInitial { return self = other }
    if explicit == nil, other.explicit == nil,
      let theirs = other.store.onlyDot,
      Store.keepsLastDots || store.onlyDot?.device == theirs.device
    {
      // The most common join is of a single write. Its join depends only on the
      // saves of that write's device, so no clock is needed.
      let mine = Dot(theirs.device, store.lastDot(of: theirs.device))
      store.merge(
        other.store, seen: Through(dot: mine), otherSeen: Through(dot: theirs))
      let last = max(mine, theirs)
      if !Store.keepsLastDots, !store.impliesContext(last) {
        explicit = CausalContext(VectorClock(last))
      }
      return _checkInvariants()
    }
    merge(part: other) { $0.merge($1, seen: $2, otherSeen: $3) }
  }

  /// Joins another value and calls `join` to join the stores under both
  /// contexts.
  mutating func merge(
    part other: Causal,
    by join: (inout Store, Store, CausalContext, CausalContext) -> Void
  ) {
    let (seen, otherSeen) = (context, other.context)
    join(&store, other.store, seen, otherSeen)
    explicit = seen.merging(otherSeen)
    elide()
  }
}

extension Causal {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      let context = context
      for last in store.dots.entries {
        precondition(
          context.contains(Dot(last.device, last.count)),
          "\(last.device):\(last.count) is in the store, not in the context")
      }
      let isImplied =
        context.dotCloud.isEmpty && store.impliesContext(context.clock)
      precondition(
        isImplied == (explicit == nil), "the context is stored, but implied")
    #endif
  }
}
