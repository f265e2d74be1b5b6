// SPDX-License-Identifier: Apache-2.0

/// The part of a large field that a receiver lacks.
///
/// Joining a fragment has the same result as joining the whole field. If a
/// replica may lack earlier content, it refuses the fragment and requests the
/// field again.
///
/// A fragment of a set is *whole*: a replica accepts or refuses all of it. The
/// same applies to a counter or a ledger with decisions what is canceled. A
/// replica accepts or refuses any other fragment device by device, because the
/// additions of a device depend only on its own saves.
package struct Fragment: Hashable, Sendable {
  /// The new part.
  ///
  /// For a set, it contains all marks of each element with a new mark. For a
  /// counter or a ledger, it contains the additions of the devices with new
  /// saves. If the fragment is whole, its clock is the clock of the sender's
  /// field. Otherwise, the clock contains only the devices with new saves.
  package let state: FieldState

  /// The saves that the receiver must have, by device.
  ///
  /// The devices are in the clock of ``state``.
  package let basis: VectorClock

  /// The devices whose ledger entries continue those of the receiver.
  ///
  /// The fragment contains the number of their earlier entries, but not their
  /// sum.
  package let continued: Set<DeviceID>

  /// The elements that were removed from a set, sorted.
  ///
  /// A sender does not know them, because it has only the present elements. A
  /// store knows them, because it tracks the changes since it wrote the set.
  package var lost: [Value] = []

  /// Whether a replica accepts or refuses the fragment as a whole.
  package var isWhole: Bool { state.read { $0.isWhole } }

  /// The last save of each device with new saves.
  package var news: VectorClock { state.clock.saves(beyond: basis) }

  /// Returns the part of some devices.
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
  /// Returns the entries of some devices.
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
    since known: VectorClock, receiverHasRemovals: Bool, elements: () -> [Value]
  ) -> Fragment? {
    withoutActuallyEscaping(elements) { elements in
      let part = store.part(
        MissingPart(
          known: known, clock: clock, receiverHasRemovals: receiverHasRemovals,
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
  /// The number of elements, devices or entries, for a field that replicas can
  /// send in parts.
  var size: Int { read { $0.size } }

  /// Returns the fragment that a receiver lacks, or `nil` if the receiver needs
  /// the whole field.
  ///
  /// - Parameters:
  ///   - known: The saves that the receiver has.
  ///   - horizon: A clock that contains every save that left no content in the
  ///     field.
  ///   - elements: Finds the elements of a set that have a mark beyond `known`.
  func fragment(
    since known: VectorClock, horizon: VectorClock, elements: () -> [Value]
  ) -> Fragment? {
    // The receiver must have seen all removals that the fragment does not name.
    let receiverHasRemovals = horizon.isContained(in: known)
    return readField {
      $0.fragment(
        since: known, receiverHasRemovals: receiverHasRemovals,
        elements: elements)
    }
  }

  /// Joins a fragment that the replica accepts.
  ///
  /// For each element or device in the fragment, the result equals that of
  /// joining whole fields. Other content stays unchanged.
  mutating func merge(_ fragment: Fragment) {
    enum Merge: FieldChanging {
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
