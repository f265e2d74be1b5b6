// SPDX-License-Identifier: Apache-2.0

/// The part of a large field that a receiver lacks.
///
/// Joining a fragment has the same result as joining the whole field. If a replica
/// may lack earlier content, it refuses the fragment and asks again.
///
/// A fragment of a set is *whole*: a replica accepts or refuses all of it. The same
/// is true of a counter or a ledger with cancellations. A replica accepts or refuses
/// any other fragment device by device, because the additions of a device depend on
/// its own saves alone.
package struct Fragment: Hashable, Sendable {
  /// The new part.
  ///
  /// A set contains all marks of each element with a new mark. A counter or a ledger
  /// contains the additions of the devices with new saves. If the fragment is whole,
  /// the clock is that of the sender's field. Otherwise, it contains only the devices
  /// with new saves.
  package let state: FieldState

  /// The saves that the receiver must hold, each of a device in the clock of
  /// ``state``.
  package let basis: VectorClock

  /// The devices whose entries in a ledger continue those of the receiver.
  ///
  /// The fragment contains the number of the earlier entries, but not their sum.
  package let continued: Set<DeviceID>

  /// The elements that a set has lost, sorted.
  ///
  /// A sender has only the elements that are still there. A store, which knows what
  /// has changed since it wrote the set, also has the others.
  package var lost: [Value] = []

  /// Whether a replica accepts or refuses all of the fragment.
  package var isWhole: Bool { state.read { $0.isWhole } }

  /// The last save of each device that has new ones.
  package var news: VectorClock { state.clock.saves(beyond: basis) }

  /// The part of some devices.
  ///
  /// - Precondition: The fragment is not whole.
  func part(of devices: Set<DeviceID>) -> Fragment {
    Fragment(
      state: state.readField { $0.part(of: devices) },
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

extension Causal where Store: FieldStore {
  func part(of devices: Set<DeviceID>) -> FieldState {
    FieldState(
      Causal(store.part(of: devices), clock.part(of: devices)))
  }

  func fragment(
    since known: VectorClock, hasRemovals: Bool, elements: () -> [Value]
  ) -> Fragment? {
    withoutActuallyEscaping(elements) { elements in
      let part = store.part(
        MissingPart(
          known: known, clock: clock, hasRemovals: hasRemovals,
          elements: elements))
      guard let (part, continued) = part else { return nil }
      let news = part.isWhole ? clock : clock.saves(beyond: known)
      return Fragment(
        state: FieldState(Causal(part, news)), basis: news.intersection(known),
        continued: continued)
    }
  }
}

extension FieldState {
  /// The number of elements, devices or entries that can be sent in part.
  var size: Int { read { $0.size } }

  /// Returns the fragment that a receiver lacks, or `nil` if the receiver needs the
  /// whole field.
  ///
  /// - Parameters:
  ///   - known: The saves that the receiver holds.
  ///   - horizon: A clock that contains every save that left nothing in the field.
  ///   - elements: Finds the elements of a set with a mark beyond `known`.
  func fragment(
    since known: VectorClock, horizon: VectorClock, elements: () -> [Value]
  ) -> Fragment? {
    // The receiver must know of all removals that the fragment does not name.
    let hasRemovals = horizon.isContained(in: known)
    return readField {
      $0.fragment(since: known, hasRemovals: hasRemovals, elements: elements)
    }
  }

  /// Joins a fragment that need not be refused.
  ///
  /// The result is the join of whole fields at each element, and for each device, in
  /// the fragment. Other content stays unchanged.
  mutating func merge(_ fragment: Fragment) {
    enum Merge: FieldChange {
      static func apply<Store: FieldStore>(
        _ fragment: Fragment, to field: inout Causal<Store>
      ) {
        guard let theirs = fragment.state.field(of: Store.self) else { return }
        field.merge(part: theirs) {
          $0.merge(part: $1, of: fragment, seen: $2, otherSeen: $3)
        }
      }
    }
    change(Merge.self, fragment)
  }
}
