// SPDX-License-Identifier: Apache-2.0

/// A multi-value register: it keeps concurrent writes until a later write
/// supersedes them.
///
///     var title = MVRegister<String>()
///     title.write("Draft", on: phone, at: Timestamp(milliseconds: 1))
///     var copy = title
///     title.write("Plan", on: phone, at: Timestamp(milliseconds: 2))
///     copy.write("Sketch", on: tablet, at: Timestamp(milliseconds: 3))
///     title.merge(copy)
///     title.value      // "Sketch"
///     title.conflicts  // ["Plan"]
///
/// The visible value is never one that a later write has seen, whatever the
/// clocks show: a write supersedes others by their dots, and timestamps only
/// order concurrent writes. Shapiro et al., *A comprehensive study* (2011),
/// §3.2.2.
public struct MVRegister<Element: FieldValue>: Hashable, Sendable {
  private(set) var state = Causal<Siblings<Stamped>>()

  /// Creates a register that is unset.
  public init() {}

  init(state: Causal<Siblings<Stamped>>) { self.state = state }

  /// The visible value, that of the write with the greatest timestamp; `nil`
  /// while the register is unset.
  public var value: Element? {
    state.store.winner?.payload.value.flatMap { Element($0) }
  }

  /// The values of concurrent writes that differ from the visible one, each
  /// once, sorted.
  ///
  /// The first is `nil` if a write unset the register.
  public var conflicts: [Element?] {
    state.store.conflicts.converted { Element($0) }
  }

  /// The device that wrote the visible value.
  public var author: DeviceID? { state.store.winner?.dot.device }

  /// The saves that the register has seen.
  public var clock: VectorClock { state.clock }

  /// Writes a value that supersedes every sibling.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` unsets the register.
  ///   - device: The device that writes.
  ///   - time: The timestamp of the write, from the device's ``HybridClock``.
  /// - Returns: The delta to merge elsewhere.
  @discardableResult
  public mutating func write(
    _ value: Element?, on device: DeviceID, at time: Timestamp
  ) -> MVRegister {
    write(value, on: device, at: time, seen: Everything())
  }

  /// Writes a value that supersedes only the siblings in `observed`.
  ///
  /// Other siblings stay. The write is stamped above them, so that it is
  /// visible.
  ///
  /// - Returns: The delta to merge elsewhere.
  @discardableResult
  public mutating func write(
    _ value: Element?, on device: DeviceID, at time: Timestamp,
    observed: VectorClock
  ) -> MVRegister {
    write(value, on: device, at: time, seen: observed)
  }

  private mutating func write(
    _ value: Element?, on device: DeviceID, at time: Timestamp,
    seen: some DotSet
  ) -> MVRegister {
    let before = state.store
    let (dot, _) = state.updateNext(of: device) { siblings, dot in
      siblings.write(value?.fieldValue, at: dot, time: time, observed: seen)
    }
    // The delta has seen only the new dot and those it superseded. Siblings
    // that stay are not in it, and it must not claim to have seen them.
    var delta = MVRegister()
    let kept = Set(state.store.map(\.dot))
    var change = state.store
    change.drop(seen: CausalContext(dots: kept.subtracting([dot])))
    let dropped = before.map(\.dot).filter { !kept.contains($0) }
    delta.state = Causal(
      store: change, context: CausalContext(dots: dropped + [dot]))
    return delta
  }
}

extension MVRegister: Lattice {
  public mutating func merge(_ other: MVRegister) { state.merge(other.state) }
}
