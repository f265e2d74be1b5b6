// SPDX-License-Identifier: Apache-2.0

/// A dot store together with the saves it has seen: the lattice that users
/// compose, and what every field of a record is.
///
///     (m, c) ⊔ (m′, c′) =
///       ({x ∈ m ∩ m′} ∪ {x ∈ m, dot(x) ∉ c′} ∪ {x ∈ m′, dot(x) ∉ c}, c ⊔ c′)
///
/// A clock that consists of just the dots in the store is not stored, which makes
/// the common field, written by one device, as small as its value.
public struct Causal<Store: DotStore>: Hashable, Sendable {
  /// What the saves left behind.
  public private(set) var store: Store

  /// `nil` exactly where the store impliesContext the context.
  private var explicit: CausalContext?

  /// Creates a value that has seen nothing.
  public init() { store = Store() }

  /// Creates a value from a store and what it has seen, which must include every
  /// dot in the store.
  public init(store: Store, context: CausalContext) {
    self.store = store
    explicit = context
    elide()
  }

  /// The saves that the value has seen.
  public var context: CausalContext {
    explicit ?? CausalContext(store.dots)
  }

  /// The contiguous part of the saves that the value has seen.
  public var clock: VectorClock { explicit?.clock ?? store.dots }

  /// The number of a device's last save in the contiguous part.
  func lastSave(of device: DeviceID) -> UInt64 {
    explicit?.clock[device] ?? store.lastDot(of: device)
  }

  /// Whether the context is known to be the dots in the store.
  var isSpelled: Bool { explicit == nil }

  /// Whether the value has seen no save.
  public var isInitial: Bool { explicit == nil && store.isEmpty }

  /// Changes the store in the save that `dot` names, which is thereby seen.
  mutating func update<Result>(
    at dot: Dot, _ change: (inout Store) -> Result
  ) -> Result {
    var context = context
    context.insert(through: dot)
    explicit = context
    let result = change(&store)
    elide()
    return result
  }

  /// Changes the store in the next change of `device`, which alone is thereby
  /// seen: those before it may not have arrived.
  mutating func updateNext<Result>(
    of device: DeviceID, _ change: (inout Store, Dot) -> Result
  ) -> (dot: Dot, Result) {
    var context = context
    let dot = context.next(of: device)
    context.merge(CausalContext(dots: [dot]))
    explicit = context
    let result = change(&store, dot)
    elide()
    return (dot, result)
  }

  /// Changes how the store is kept, not what it means.
  mutating func reshape(_ change: (inout Store) -> Void) {
    change(&store)
  }

  private mutating func elide() {
    if let context = explicit, context.scattered.isEmpty,
      store.impliesContext(context.clock)
    {
      explicit = nil
    }
  }
}

extension Causal: Lattice {
  /// Joins another value of the same field.
  ///
  /// - Complexity: That of the store's join, and O(*r*) for *r* devices.
  public mutating func merge(_ other: Causal) {
    let (seen, otherSeen) = (context, other.context)
    store.merge(other.store, seen: seen, otherSeen: otherSeen)
    explicit = seen.merging(otherSeen)
    elide()
  }
}
