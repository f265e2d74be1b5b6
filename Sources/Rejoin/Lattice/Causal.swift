// SPDX-License-Identifier: Apache-2.0

/// A dot store with its causal context: the lattice that users compose, and the
/// state of every field of a record.
///
///     (m, c) ⊔ (m′, c′) =
///       ({x ∈ m ∩ m′} ∪ {x ∈ m, dot(x) ∉ c′} ∪ {x ∈ m′, dot(x) ∉ c}, c ⊔ c′)
///
/// A context that the dots in the store imply is not stored. So the most common
/// field, which holds one write, is as small as that write.
package struct Causal<Store: DotStore>: Hashable, Sendable {
  /// What the saves have written.
  ///
  /// Every dot in it is in ``context``.
  package private(set) var store: Store

  /// `nil` if and only if the store implies the context, so that equal values
  /// are stored alike.
  private var explicit: CausalContext?

  /// Creates an empty value, which has seen no save.
  package init() { store = Store() }

  /// Creates a value from a store and its causal context, which must contain
  /// every dot in the store.
  package init(store: Store, context: CausalContext) {
    self.store = store
    explicit = context
    elide()
  }

  /// Creates a value from a store and its causal context; `nil` if the store
  /// implies that.
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

  /// The sequence number of a device's last save in ``clock``.
  func lastSave(of device: DeviceID) -> UInt64 {
    explicit?.clock[device] ?? store.lastDot(of: device)
  }

  /// Whether the dots in the store imply the context.
  var isContextImplied: Bool { explicit == nil }

  /// Whether the value has seen no save.
  package var isInitial: Bool { explicit == nil && store.isEmpty }

  /// Changes the store in the save `dot`, and adds that save and all earlier
  /// ones of its device to the context.
  mutating func update<Result>(
    at dot: Dot, _ change: (inout Store) -> Result
  ) -> Result {
    // The most common field holds writes of one device, which overwrites them.
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

  /// Changes the store under the next dot of `device`, and adds only that dot
  /// to the context: earlier ones may not have arrived.
  mutating func updateNext<Result>(
    of device: DeviceID, _ change: (inout Store, Dot) -> Result
  ) -> (dot: Dot, Result) {
    var context = context
    // Released, so that it is changed in place.
    explicit = nil
    let dot = context.insertNext(of: device)
    explicit = context
    let result = change(&store, dot)
    elide()
    return (dot, result)
  }

  /// Changes the representation of the store, which leaves its meaning and its
  /// context unchanged.
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

/// The saves of a device up to one.
private struct Through: DotSet {
  let dot: Dot

  func contains(_ other: Dot) -> Bool {
    other.device == dot.device && other.sequence <= dot.sequence
  }
}

extension Causal: Lattice {
  /// Joins the stores under both contexts, and the contexts.
  ///
  /// - Complexity: That of the store's join, and O(*r*) for *r* devices.
  package mutating func merge(_ other: Causal) {
    if isInitial { return self = other }
    if explicit == nil, other.explicit == nil,
      let theirs = other.store.onlyDot,
      Store.keepsLastDots || store.onlyDot?.device == theirs.device
    {
      // The most common join is of a single write. Of our context only what it
      // has seen of that write's device plays a part, and no clock is made.
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

  /// Joins a value whose store is joined by `join`, under both contexts.
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
