// SPDX-License-Identifier: Apache-2.0

/// The levels of a position.
///
/// A level is a name and a step. At the first level, the name is the tag of a device in
/// six bytes. Below, it is the index of the tag among those before, or `FF` and a new
/// tag. A step consists of two numbers, a save and a count. To the left of a level, it is
/// the complement of both. The last bit of a step is 1, or 0 if the levels below it are to
/// its left.
struct PositionLevels: Sequence, IteratorProtocol {
  struct Level {
    let start: Int
    /// The index of the tag among those of the position, by first appearance.
    let device: Int
    /// The tag, at the first level of its device.
    let newTag: UInt64?
    let isLeft: Bool
    let save: UInt64
    let count: UInt64
  }

  static let tagSize = 6
  /// The first byte of a name with a new tag.
  static let newName: UInt8 = 0xff

  private let bytes: UnsafeBufferPointer<UInt8>
  private var index = 0
  /// The number of distinct tags so far.
  private var devices = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  /// Returns the next level, or `nil` at the end or if the bytes are not a level.
  mutating func next() -> Level? {
    let start = index
    guard let (device, newTag) = name(), index < bytes.count else {
      index = start
      return nil
    }
    let isLeft = bytes[index] < 0x80
    guard let save = number(isComplement: isLeft),
      let count = number(isComplement: isLeft)
    else {
      index = start
      return nil
    }
    return Level(
      start: start, device: device, newTag: newTag, isLeft: isLeft, save: save,
      count: count >> 1)
  }

  private mutating func name() -> (device: Int, newTag: UInt64?)? {
    guard index < bytes.count else { return nil }
    if devices > 0 {
      let name = bytes[index]
      if name != Self.newName {
        index += 1
        return Int(name) < devices ? (Int(name), nil) : nil
      }
      index += 1
    }
    guard bytes.count - index >= Self.tagSize else { return nil }
    let tag = bytes.word(at: index) >> 16
    index += Self.tagSize
    devices += 1
    return (devices - 1, tag)
  }

  /// Reads a number in its shortest form, whose first byte has the number of further bytes.
  private mutating func number(isComplement: Bool) -> UInt64? {
    let word = isComplement ? ~bytes.word(at: index) : bytes.word(at: index)
    let count = Int(word >> 60 & 7)
    // Four bits, and eight for each byte that follows.
    let number = (word << 4) >> (60 - 8 * UInt64(count))
    index += 1 + count
    let isShortest = count == 0 || number >> (8 * count - 4) > 0
    return word >> 63 == 1 && index <= bytes.count && isShortest ? number : nil
  }
}

extension PositionLevels {
  /// Returns whether bytes are a position, in the only form that devices make.
  static func isCanonical(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var levels = Self(bytes)
    while let level = levels.next() {
      // A tag is new once.
      let above = UnsafeBufferPointer(rebasing: bytes[..<level.start])
      if let tag = level.newTag,
        Self(above).contains(where: { $0.newTag == tag })
      {
        return false
      }
    }
    return levels.index == bytes.count
      && bytes.last.map { $0 & 1 == 1 } ?? false
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Returns up to eight bytes from an index as the highest ones of a word.
  ///
  /// Missing bytes are zero.
  func word(at index: Int) -> UInt64 {
    let (raw, size) = (UnsafeRawBufferPointer(self), 8)
    if index + size <= count {
      return raw.loadUnaligned(fromByteOffset: index, as: UInt64.self).bigEndian
    }
    if count < size {
      return self[Swift.min(index, count)...].reversed()
        .reduce(0) { $0 >> 8 | UInt64($1) << 56 }
    }
    let last = raw.loadUnaligned(
      fromByteOffset: count - size, as: UInt64.self)
    return last.bigEndian << (8 * (index + size - count))
  }
}
