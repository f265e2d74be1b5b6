// SPDX-License-Identifier: Apache-2.0

/// Compares, sorts and hashes text by its UTF-8 bytes.
///
/// `String` compares by Unicode equivalence: a composed and a decomposed "é"
/// are equal, and the result may depend on the Unicode version. Replicas must
/// agree on the bytes under any version.
enum UTF8Order {
  @inline(__always)
  static func equal(_ a: String, _ b: String) -> Bool {
    isStoredAlike(a, b) || equalBytes(a, b)
  }

  /// Returns whether both texts are stored in the same two words, as equal short
  /// texts and copies of a text are.
  ///
  /// Two texts that are not stored alike can be equal.
  @inline(__always)
  private static func isStoredAlike(_ a: String, _ b: String) -> Bool {
    typealias Words = (UInt64, UInt64)
    // On some platforms, a text has fewer bits.
    guard MemoryLayout<String>.size == MemoryLayout<Words>.size else {
      return false
    }
    return unsafeBitCast(a, to: Words.self) == unsafeBitCast(b, to: Words.self)
  }

  private static func equalBytes(_ a: String, _ b: String) -> Bool {
    // Texts with equal bytes are equal in every Unicode version. `==`
    // distinguishes most other texts without unpacking them.
    a.utf8.count == b.utf8.count && a == b && compare(a, b) == 0
  }

  /// Returns a negative number, zero or a positive number if `a` is less than,
  /// equal to or greater than `b`.
  static func compare(_ a: String, _ b: String) -> Int {
    let fast = a.utf8.withContiguousStorageIfAvailable { x in
      b.utf8.withContiguousStorageIfAvailable { y in compare(x, y) }
    }
    if let fast, let order = fast { return order }
    return Array(a.utf8).withUnsafeBufferPointer { x in
      Array(b.utf8).withUnsafeBufferPointer { y in compare(x, y) }
    }
  }

  static func compare(_ a: [UInt8], _ b: [UInt8]) -> Int {
    a.withUnsafeBufferPointer { x in
      b.withUnsafeBufferPointer { y in compare(x, y) }
    }
  }

  /// Returns the first eight bytes as a number.
  ///
  /// A text with a lesser number is a lesser text.
  static func prefix(of text: String) -> UInt64 {
    var (text, prefix) = (text, 0 as UInt64)
    text.withUTF8 { bytes in
      if bytes.count >= 8 {
        prefix =
          UnsafeRawBufferPointer(bytes)
          .loadUnaligned(as: UInt64.self).bigEndian
        return
      }
      for i in 0..<bytes.count {
        prefix |= UInt64(bytes[i]) << UInt64(56 - 8 * i)
      }
    }
    return prefix
  }

  /// Returns a number that usually differs if the first eight bytes differ.
  static func prehash(of text: String) -> UInt32 {
    let prefix = prefix(of: text)
    return UInt32(truncatingIfNeeded: prefix ^ prefix >> 32)
  }

  static func hash(_ text: String, into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    // UTF-8 never contains this byte. It ends the text, so "ab", "c" and "a",
    // "bc" have different hashes.
    hasher.combine(0xff as UInt8)
  }

  static func compare(
    _ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>
  ) -> Int {
    let common = min(a.count, b.count)
    let (x, y) = (UnsafeRawBufferPointer(a), UnsafeRawBufferPointer(b))
    var start = 0
    while common - start >= 8 {
      let first = x.loadUnaligned(fromByteOffset: start, as: UInt64.self)
      let second = y.loadUnaligned(fromByteOffset: start, as: UInt64.self)
      if first != second { return first.bigEndian < second.bigEndian ? -1 : 1 }
      start += 8
    }
    for i in start..<common where a[i] != b[i] {
      return a[i] < b[i] ? -1 : 1
    }
    return a.count - b.count
  }
}

extension RandomAccessCollection where Index == Int {
  /// Returns the index of the first element that satisfies `isInSecond`, or the
  /// end index.
  ///
  /// This is a binary search. The elements that satisfy `isInSecond` must
  /// follow all others.
  ///
  /// - Complexity: O(log *n*), where *n* is the number of elements.
  func partitioningIndex(where isInSecond: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if isInSecond(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
