// SPDX-License-Identifier: Apache-2.0

/// A last-writer-wins register: it keeps only the write with the greatest
/// timestamp.
///
///     var theme = LWWRegister<String>()
///     try theme.write("dark", on: phone, at: Timestamp(milliseconds: 5))
///     try theme.write("light", on: phone, at: Timestamp(milliseconds: 1))
///     theme.value  // "light": stamped above the write that it has seen
///
/// It is half the size of an ``MVRegister``. Of two concurrent writes, it
/// forgets the loser, and a device whose clock is far ahead wins over
/// concurrent writers. Choose it where that is acceptable. Shapiro et al.
/// (2011), §3.2.1.
public struct LWWRegister<Element: FieldValue>: Hashable, Sendable {
  /// The write with the greatest timestamp; `nil` if there has been none.
  var write: Write?

  /// A value, and the device that wrote it.
  struct Write: Hashable, Sendable {
    let device: DeviceID
    let content: Stamped
  }

  /// The current write has the greatest timestamp, so that none can follow it.
  public struct Exhausted: Error, Hashable, CustomStringConvertible {
    /// What happened, and what to do about it.
    public var description: String {
      "the register's current write has the greatest timestamp, so no later "
        + "write is possible: store the value in a new register"
    }
  }

  /// Creates a register that is unset.
  public init() {}

  /// The value; `nil` while the register is unset.
  public var value: Element? { write?.content.value.flatMap { Element($0) } }

  /// The device that wrote the value.
  public var author: DeviceID? { write?.device }

  /// Writes a value; `nil` unsets the register.
  ///
  /// - Returns: The delta to merge elsewhere.
  /// - Throws: ``Exhausted`` if the current write has the greatest timestamp;
  ///   the register is then unchanged.
  @discardableResult
  public mutating func write(
    _ value: Element?, on device: DeviceID, at time: Timestamp
  ) throws(Exhausted) -> LWWRegister {
    var stamp = time
    if let present = write?.content.time {
      guard let next = present.next else { throw Exhausted() }
      stamp = max(time, next)
    }
    write = Write(
      device: device, content: Stamped(value?.fieldValue, at: stamp))
    return self
  }
}

extension LWWRegister: Lattice {
  public mutating func merge(_ other: LWWRegister) {
    guard let theirs = other.write else { return }
    if let mine = write, !(mine < theirs) { return }
    write = theirs
  }
}

extension LWWRegister.Write: Comparable {
  /// Orders writes by time, then device.
  ///
  /// Two writes of one time and device differ only by equivocation. Then their
  /// values decide.
  static func < (a: Self, b: Self) -> Bool {
    if a.content.time != b.content.time {
      return a.content.time < b.content.time
    }
    return a.device != b.device ? a.device < b.device : a.content < b.content
  }
}
