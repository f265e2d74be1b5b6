// SPDX-License-Identifier: Apache-2.0

/// A place in an ordered list, which devices can make between any two others.
///
///     struct Item: Entity {
///       let title = register("title", of: String.self)
///       let position = lww("position", of: Position.self)
///     }
///
///     try phone.save { transaction in
///       transaction[Item.self, "bread"].title = "Bread"
///       transaction.move(
///         ["bread"], by: \Item.position, between: "milk", and: "salt")
///     }
///
/// Sort the records by position, and by key if two positions are equal. Records without
/// a position come last.
///
/// Two devices make different positions, even if both insert at one place at the same
/// time. (Copies of a device and imports can make equal ones.) The items that a device
/// inserts at one place stay together when the devices sync. A number between two
/// neighbors has neither property, and after about 50 insertions into one gap, no `Double`
/// is left between its neighbors.
///
/// Declare the field with `lww`. If two devices move one item, it is at the place of the
/// later move, and there is no conflict. With `register`, it would be one.
///
/// A position is a path of levels, compared as bytes. Each level names a device, one of
/// its saves, and how many positions that save had made before. The scheme is based on
/// position-strings (Weidner 2023).
public struct Position: Hashable, Sendable {
  /// The maximum number of bytes.
  public static let byteLimit = 1_024
  /// The greatest number of a save that a position can name.
  static let lastSave: UInt64 = (1 << 60) - 1

  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }
}

extension Position: Comparable {
  /// Returns whether a position is before another one.
  public static func < (a: Position, b: Position) -> Bool {
    UTF8Order.compare(a.bytes, b.bytes) < 0
  }
}

extension Position: FieldValue {
  public var fieldValue: Value { .bytes(bytes) }

  /// Creates a position from its stored form, or returns `nil` if the bytes are not one.
  public init?(fieldValue value: Value) {
    guard case .bytes(let bytes) = value, bytes.count <= Self.byteLimit,
      bytes.withUnsafeBufferPointer(PositionLevels.isCanonical)
    else { return nil }
    self.bytes = bytes
  }
}

extension Position: CustomStringConvertible {
  /// The bytes in hexadecimal.
  public var description: String {
    bytes.map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }
}

extension Position {
  /// The device, the number of its save, and how many positions the save made before.
  ///
  /// Together, they make a position unique.
  struct Origin {
    let device: DeviceID
    /// 48 bits that stand for the device.
    let tag: UInt64
    let save: UInt64
    /// The number of positions that the save made before.
    var count: UInt64 = 0

    /// Creates a position between two others, or at an end.
    ///
    /// - Parameters:
    ///   - left: The position before, or `nil`.
    ///   - right: The position behind, or `nil`. It is ignored if it is not greater
    ///     than `left`, because copies of a device can make equal positions.
    mutating func next(after left: Position?, before right: Position?)
      -> Position
    {
      defer { count += 1 }
      // No position is empty.
      let (left, right) = (left?.bytes ?? [], right?.bytes ?? [])
      return left.withUnsafeBufferPointer { left in
        right.withUnsafeBufferPointer { right in
          Position(bytes: PositionGap(left, right, self).position())
        }
      }
    }
  }
}

extension Position.Origin {
  init(_ dot: Dot) {
    var digest = Digest()
    digest.add(dot.device.high)
    digest.add(dot.device.low)
    self.init(
      device: dot.device, tag: digest.value >> 16, save: dot.sequence)
  }
}
