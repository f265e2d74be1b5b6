// SPDX-License-Identifier: Apache-2.0

extension Array where Element == UInt8 {
  /// The message with its last four bytes replaced by the correct checksum.
  ///
  /// Otherwise nearly every input would be refused for its checksum, and the
  /// decoder would not be fuzzed.
  public var resealed: [UInt8] {
    guard count >= 7 else { return self }
    let content = dropLast(4)
    let sum = Checksum(content).value
    return content + (0..<4).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) }
  }
}

/// A second implementation of the format's checksum: words of eight bytes,
/// mixed one by one.
private struct Checksum {
  private var state: UInt64

  init(_ bytes: ArraySlice<UInt8>) {
    state = UInt64(bytes.count) &* 0x9e37_79b9_7f4a_7c15
    var rest = bytes
    while !rest.isEmpty {
      let word = rest.prefix(8).reversed().reduce(0 as UInt64) {
        $0 << 8 | UInt64($1)
      }
      let mixed = (state ^ word) &* 0xbf58_476d_1ce4_e5b9
      state = mixed ^ mixed >> 29
      rest = rest.dropFirst(8)
    }
  }

  var value: UInt32 {
    let last = (state ^ state >> 32) &* 0xd6e8_feb8_6659_fd93
    return UInt32(truncatingIfNeeded: last >> 32)
  }
}
