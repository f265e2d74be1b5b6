// SPDX-License-Identifier: Apache-2.0

/// A register that keeps only the last write.
///
///     var theme = LWWRegister<String>()
///     try theme.write("dark", by: phone, at: Timestamp(milliseconds: 5))
///     try theme.write("light", by: phone, at: Timestamp(milliseconds: 1))
///     theme.value  // "light": a later write is shown, whatever the clock says
///
/// Half the size of an ``MVRegister``, and it forgets the loser of two concurrent
/// writes: a device whose clock is far ahead wins over concurrent writers. Choose
/// it where that is acceptable. Shapiro et al. (2011), §3.2.1.
public struct LWWRegister<Element: FieldValue>: Hashable, Sendable {
  var state = Latest()

  /// There is no timestamp above that of the value present.
  public struct Exhausted: Error, Hashable, CustomStringConvertible {
    /// What happened, and how to mend it.
    public var description: String {
      "the register holds a write with the greatest timestamp, above which "
        + "nothing can be written: store the value in a new register"
    }
  }

  /// Creates a register that is unset.
  public init() {}

  /// The value; `nil` while the register is unset.
  public var value: Element? {
    state.write?.payload.value.flatMap { Element($0) }
  }

  /// The device that wrote the value.
  public var author: DeviceID? { state.write?.dot.device }

  /// Writes a value; `nil` unsets the register.
  ///
  /// - Returns: The delta to merge elsewhere.
  /// - Throws: ``Exhausted`` if the present write has the greatest timestamp; the
  ///   register is then unchanged.
  @discardableResult
  public mutating func write(
    _ value: Element?, by device: DeviceID, at time: Timestamp
  ) throws(Exhausted) -> LWWRegister {
    guard let stamp = state.stamp(for: time) else { throw Exhausted() }
    // Alone, a write is named by its time and device; its number says nothing.
    state.write(value?.fieldValue, at: Dot(device, 0), stamp: stamp)
    return self
  }
}

extension LWWRegister: Lattice {
  public mutating func merge(_ other: LWWRegister) {
    state.merge(other.state, seen: Everything(), otherSeen: Everything())
  }
}
