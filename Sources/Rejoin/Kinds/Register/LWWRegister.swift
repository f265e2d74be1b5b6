// SPDX-License-Identifier: Apache-2.0

/// A last-writer-wins register, which keeps only the write with the greatest
/// timestamp.
///
///     var theme = LWWRegister<String>()
///     try theme.write("dark", on: phone, at: Timestamp(milliseconds: 5))
///     try theme.write("light", on: phone, at: Timestamp(milliseconds: 1))
///     theme.value  // "light": stamped above the write that it has seen
///
/// A last-writer-wins register is half the size of an ``MVRegister``. It drops
/// the loser of two concurrent writes, and a device whose clock is far ahead
/// wins over concurrent writers. Use it if your app can accept that. See
/// Shapiro et al. (2011), §3.2.1.
public struct LWWRegister<Element: FieldValue>: Hashable, Sendable {
  /// The write with the greatest timestamp, or `nil` before the first write.
  var write: Write?

  /// A value and the device that wrote it.
  struct Write: Hashable, Sendable {
    let device: DeviceID
    let content: Stamped
  }

  /// An error that reports that no write can follow the current one, because it
  /// has the greatest timestamp.
  public struct Exhausted: Error, Hashable, CustomStringConvertible {
    /// The cause of the error, and a remedy.
    public var description: String {
      "The register cannot be written because its write has the greatest "
        + "timestamp. Store the value in a new register."
    }
  }

  /// Creates an unset register.
  public init() {}

  /// The value, or `nil` while the register is unset.
  public var value: Element? {
    write?.content.value.flatMap { Element(fieldValue: $0) }
  }

  /// The device that wrote the value.
  public var author: DeviceID? { write?.device }

  /// Writes a value, or unsets the register if the value is `nil`.
  ///
  /// - Returns: The delta to merge into other copies.
  /// - Throws: ``Exhausted`` if the current write has the greatest timestamp.
  ///   If an error is thrown, the register is unchanged.
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
  /// Orders writes by time and then by device.
  ///
  /// Two writes with the same time and device differ only if a device ID was
  /// used twice (equivocation). In that case, their values decide.
  static func < (a: Self, b: Self) -> Bool {
    if a.content.time != b.content.time {
      return a.content.time < b.content.time
    }
    return a.device != b.device ? a.device < b.device : a.content < b.content
  }
}
