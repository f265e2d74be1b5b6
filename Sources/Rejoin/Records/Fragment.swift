// SPDX-License-Identifier: Apache-2.0

/// A part of a large field: what one replica has seen of it and another has not.
///
/// Joining it gives the state that the whole field would have given. A replica
/// that may lack something before it refuses it, and asks again.
///
/// A fragment of a set, or of a counter or ledger with cancellations, is *whole*:
/// taken or refused as one. Any other stands device by device, because what a
/// device has added depends on its own saves alone.
public struct Fragment: Hashable, Sendable {
  /// The new part.
  ///
  /// Of a set, every element with a mark that is new, with all its marks; of a
  /// counter or a ledger, what the devices with new saves have added. Its clock is
  /// the sender's: of the whole field if the fragment is whole, else of the devices
  /// with new saves.
  public let state: FieldState

  /// The saves that the receiver must hold, each of a device in the clock of
  /// ``state``.
  public let basis: VectorClock

  /// The devices whose line of a ledger continues one that the receiver has: it
  /// tells how many entries are before it, and not their sum.
  package let continued: Set<DeviceID>

  /// Whether it is taken or refused as one.
  public var isWhole: Bool {
    switch state {
    case .register, .set, .existence: true
    case .counter(let field): !field.store.cancelled.isEmpty
    case .ledger(let field):
      field.store.lines.values.contains { $0.cancelled > 0 }
    }
  }

  /// The last save of each device that has new ones.
  public var news: VectorClock { state.clock.saves(beyond: basis) }

  /// The part of some devices.
  ///
  /// - Precondition: The fragment is not whole.
  func part(of devices: Set<DeviceID>) -> Fragment {
    Fragment(
      state: state.part(of: devices),
      basis: basis.part(of: devices), continued: continued.intersection(devices)
    )
  }
}

extension VectorClock {
  /// The entries of some devices.
  fileprivate func part(of devices: Set<DeviceID>) -> VectorClock {
    VectorClock(sorted: entries.filter { devices.contains($0.device) })
  }
}

extension FieldKind {
  /// Whether a fragment of such a field can be sent.
  var isDivisible: Bool {
    switch self {
    case .register, .existence: false
    case .counter, .set, .ledger: true
    }
  }
}

extension FieldState {
  /// Whether a fragment of the field can be sent.
  var isDivisible: Bool { kind.isDivisible }

  /// How many elements, devices or entries a set, a counter or a ledger has.
  var size: Int {
    switch self {
    case .register, .existence: 0
    case .counter(let field): field.store.entries.count
    case .set(let field): field.store.count
    case .ledger(let field):
      field.store.lines.values.reduce(0) { $0 + $1.tail.count }
    }
  }
}

extension FieldState {
  /// What some devices have added to a counter or a ledger.
  fileprivate func part(of devices: Set<DeviceID>) -> FieldState {
    let clock = clock.part(of: devices)
    return switch self {
    case .counter(let field):
      .counter(
        Causal(
          Tally(
            entries: field.store.entries.filter { devices.contains($0.device) }),
          clock))
    case .ledger(let field):
      .ledger(
        Causal(
          LedgerLines(
            lines: field.store.lines.filter { devices.contains($0.key) }), clock
        )
      )
    case .register, .set, .existence: self
    }
  }

  /// Joins a fragment that need not be refused.
  ///
  /// At each element that is in it, and in each device's line, it is the join of
  /// whole fields; what is not in it is not taken as removed.
  mutating func merge(_ fragment: Fragment) {
    // Holding the only reference, the store is changed without being copied.
    let taken = self
    self = .register(Causal())
    self = taken.merging(fragment)
    _checkInvariants()
  }

  private consuming func merging(_ fragment: Fragment) -> FieldState {
    switch consume self {
    case .counter(var mine):
      if case .counter(let theirs) = fragment.state { mine.merge(theirs) }
      return .counter(mine)
    case .set(var mine):
      guard case .set(let theirs) = fragment.state else { return .set(mine) }
      mine.merge(part: theirs) { $0.merge(part: $1, seen: $2, otherSeen: $3) }
      return .set(mine)
    case .ledger(var mine):
      guard case .ledger(let theirs) = fragment.state else {
        return .ledger(mine)
      }
      mine.merge(part: theirs) { lines, part, _, _ in
        lines.merge(part, continued: fragment.continued)
      }
      return .ledger(mine)
    case .register(let mine): return .register(mine)
    case .existence(let mine): return .existence(mine)
    }
  }
}
