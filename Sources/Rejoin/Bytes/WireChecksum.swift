// SPDX-License-Identifier: Apache-2.0

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
