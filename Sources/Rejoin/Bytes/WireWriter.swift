// SPDX-License-Identifier: Apache-2.0

/// Writes the primitives of the format, each in its canonical encoding.
package struct WireWriter {
  package private(set) var bytes: [UInt8]

  /// Starts a message.
  package init(_ kind: WireKind) {
    bytes = []
    // Enough for the delta of one save from one device.
    bytes.reserveCapacity(160)
    bytes += [WireKind.firstByte, kind.rawValue, WireKind.version]
  }

  /// Starts a section of a message, or what precedes one in a stream.
  package init() {
    bytes = []
    // Enough for the digests of one device.
    bytes.reserveCapacity(32)
  }

  /// Makes room for a message of `count` bytes.
  mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

  mutating func byte(_ byte: UInt8) { bytes.append(byte) }

  /// Writes an integer with seven bits per byte, the lowest first.
  ///
  /// All bytes except the last have the top bit set (LEB128).
  package mutating func varint(_ number: UInt64) {
    if number < 0x80 { return bytes.append(UInt8(truncatingIfNeeded: number)) }
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  package mutating func varint(_ number: Int) { varint(UInt64(number)) }

  /// Writes 0, −1, 1, −2, … as 0, 1, 2, 3, … (zigzag).
  mutating func signed(_ number: Int64) { varint(number.zigzag) }

  /// Writes a 128-bit integer in zigzag form, with seven bits per byte.
  mutating func wide(_ number: WideInt) {
    let sign = UInt64(bitPattern: number.high >> 63)
    var high = (UInt64(bitPattern: number.high) << 1 | number.low >> 63) ^ sign
    var low = number.low << 1 ^ sign
    while high > 0 || low >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: low) | 0x80)
      low = low >> 7 | high << 57
      high >>= 7
    }
    bytes.append(UInt8(low))
  }

  /// Writes two integers that are usually small, with half a byte for each.
  ///
  /// If an integer is 15 or more, the remainder follows.
  mutating func pair(_ low: Int, _ high: Int) {
    bytes.append(UInt8(min(low, 15) | min(high, 15) << 4))
    if low >= 15 { varint(low - 15) }
    if high >= 15 { varint(high - 15) }
  }

  /// Writes eight bytes, little-endian.
  mutating func fixed(_ word: UInt64) {
    withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
  }

  package mutating func raw(_ content: some Sequence<UInt8>) {
    bytes.append(contentsOf: content)
  }

  /// Writes the bytes of a text, whose length is written before it.
  mutating func text(_ text: String) {
    var text = text
    text.withUTF8 { bytes.append(contentsOf: $0) }
  }

  /// Completes the message with its checksum.
  mutating func seal() {
    let sum = bytes.withUnsafeBytes { WireChecksum.of($0) }
    withUnsafeBytes(of: sum.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// Returns the message with its checksum.
  package consuming func sealed() -> [UInt8] {
    seal()
    return bytes
  }
}

extension Int64 {
  /// The integer with its sign in the lowest bit.
  var zigzag: UInt64 { UInt64(bitPattern: self << 1 ^ self >> 63) }

  init(zigzag: UInt64) {
    self = Int64(bitPattern: zigzag >> 1) ^ -Int64(bitPattern: zigzag & 1)
  }
}

/// The checksum at the end of a message.
///
/// It detects accidental corruption, not tampering.
///
/// The state starts with the number of bytes. Each word of eight bytes is mixed
/// into it, and the last one is padded with zeros. Each step is invertible, so
/// a change within one word always changes the state. The checksum is 32 bits
/// of the state.
package enum WireChecksum {
  package static let size = 4

  package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    var state = UInt64(bytes.count) &* 0x9e37_79b9_7f4a_7c15
    var i = 0
    while i + 8 <= bytes.count {
      mix(bytes.loadUnaligned(fromByteOffset: i, as: UInt64.self), into: &state)
      i += 8
    }
    if i < bytes.count {
      var word: UInt64 = 0
      for (k, byte) in bytes[i...].enumerated() {
        word |= UInt64(byte) << UInt64(8 * k)
      }
      mix(UInt64(littleEndian: word.littleEndian), into: &state)
    }
    state = (state ^ state >> 32) &* 0xd6e8_feb8_6659_fd93
    return UInt32(truncatingIfNeeded: state >> 32)
  }

  private static func mix(_ word: UInt64, into state: inout UInt64) {
    let mixed = (state ^ UInt64(littleEndian: word)) &* 0xbf58_476d_1ce4_e5b9
    state = mixed ^ mixed >> 29
  }
}
