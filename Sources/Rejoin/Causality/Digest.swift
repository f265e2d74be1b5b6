// SPDX-License-Identifier: Apache-2.0

/// A 64-bit digest of content, which is the same in every process.
///
/// It detects histories that diverged by accident. It does not resist
/// deliberate collisions.
package struct Digest {
  private var state: UInt64

  package init(seed: UInt64 = 0) { state = seed ^ 0x9e37_79b9_7f4a_7c15 }

  package mutating func add(_ word: UInt64) {
    // The finalizer of splitmix64, combined with the previous state.
    var mixed = (state ^ word) &+ 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    state = mixed ^ (mixed >> 31) ^ (state << 1 | state >> 63)
  }

  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var (word, start) = (0 as UInt64, 0)
    while bytes.count - start >= 8 {
      word =
        bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self).bigEndian
      add(word)
      start += 8
    }
    for byte in bytes[start...] { word = word << 8 | UInt64(byte) }
    add(word)
    // The length separates inputs that differ only in leading zero bytes.
    add(UInt64(bytes.count))
  }

  package mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
  }

  package mutating func add(_ value: Value?) {
    guard let value else { return add(0xff) }
    add(UInt64(value.tag))
    switch value {
    case .null: break
    case .bool(let flag): add(flag ? 1 : 0)
    case .int(let number), .date(let number): add(UInt64(bitPattern: number))
    case .double(let number): add(Value.canonicalBits(number))
    case .string(let text): add(text)
    case .bytes(let bytes): bytes.withUnsafeBytes { add($0) }
    case .reference(let id):
      add(id.entity)
      add(id.key)
    }
  }

  /// The current digest.
  ///
  /// Never zero, which stands for an unknown digest.
  package var value: UInt64 { state == 0 ? 1 : state }
}

extension Digest {
  /// Adds a field's name and variant, but not its kind.
  mutating func add(_ key: FieldKey) {
    add(key.name)
    if let variant = key.variant { add(variant) }
  }
}
