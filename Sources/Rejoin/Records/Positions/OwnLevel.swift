// SPDX-License-Identifier: Apache-2.0

/// The last level of a position that a device makes.
struct OwnLevel {
  /// Up to eight bytes, from the highest ones of the word.
  fileprivate struct Bytes {
    let word: UInt64
    let count: Int
  }

  let isLeft: Bool
  private let tag: UInt64
  /// The name, which depends on the levels above it.
  private var name: Bytes
  private let save: Bytes
  private let number: Bytes
  /// The index of the tag, or `nil` unless a level above has it.
  private var device: Int?

  /// Creates a level with none above it.
  init(_ origin: Position.Origin, isLeft: Bool) {
    func number(_ number: UInt64) -> Bytes {
      let significant = UInt64.bitWidth - number.leadingZeroBitCount
      let count = max(0, significant + 3) / 8
      let form = UInt64(8 | count) << (4 + 8 * count) | number
      return Bytes(
        word: (isLeft ? ~form : form) << (56 - 8 * count), count: count + 1)
    }
    self.isLeft = isLeft
    tag = origin.tag
    name = Bytes(word: origin.tag << 16, count: PositionLevels.tagSize)
    save = number(origin.save)
    self.number = number(2 * origin.count + (isLeft ? 0 : 1))
  }

  /// Returns whether a level above was made by the device.
  func isSameDevice(as level: PositionLevels.Level) -> Bool {
    level.newTag == tag || level.device == device
  }

  /// Moves below a level.
  mutating func descend(past level: PositionLevels.Level) {
    if level.newTag == tag {
      device = level.device
      name = Bytes(word: UInt64(level.device) << 56, count: 1)
    } else if device == nil {
      name = Bytes(
        word: UInt64(PositionLevels.newName) << 56 | tag << 8,
        count: 1 + PositionLevels.tagSize)
    }
  }

  /// The number of bytes.
  var count: Int { name.count + save.count + number.count }

  /// Writes the bytes at an index.
  func write(to bytes: UnsafeMutableBufferPointer<UInt8>, at index: Int) {
    name.write(to: bytes, at: index)
    save.write(to: bytes, at: index + name.count)
    number.write(to: bytes, at: index + name.count + save.count)
  }

  /// Compares the bytes with those of another position from an index.
  ///
  /// - Returns: A negative number, zero or a positive number if the level is less, equal
  ///   or greater.
  func compare(to other: UnsafeBufferPointer<UInt8>, from index: Int) -> Int {
    let saveIndex = index + name.count
    let numberIndex = saveIndex + save.count
    return name.difference(from: other, at: index)
      ?? save.difference(from: other, at: saveIndex)
      ?? number.difference(from: other, at: numberIndex)
      ?? numberIndex + number.count - other.count
  }
}

extension OwnLevel.Bytes {
  fileprivate func write(
    to bytes: UnsafeMutableBufferPointer<UInt8>, at index: Int
  ) {
    for i in 0..<count {
      bytes[index + i] = UInt8(truncatingIfNeeded: word >> (56 - 8 * i))
    }
  }

  /// Compares the bytes with as many of others, and returns `nil` if they are equal.
  fileprivate func difference(
    from other: UnsafeBufferPointer<UInt8>, at index: Int
  ) -> Int? {
    let found = other.word(at: index) & (~0 << (64 - 8 * count))
    if word != found { return word < found ? -1 : 1 }
    return other.count < index + count ? 1 : nil
  }
}
