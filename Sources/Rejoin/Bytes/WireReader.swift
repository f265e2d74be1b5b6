// SPDX-License-Identifier: Apache-2.0

/// Calls `body` with the bytes, or with a copy if they are not contiguous in
/// memory.
package func withBytes<Result>(
  of bytes: some Sequence<UInt8>,
  _ body: (UnsafeRawBufferPointer) throws(WireError) -> Result
) throws(WireError) -> Result {
  func outcome(
    _ buffer: UnsafeBufferPointer<UInt8>
  ) -> Swift.Result<Result, WireError> {
    do throws(WireError) {
      return .success(try body(UnsafeRawBufferPointer(buffer)))
    } catch { return .failure(error) }
  }
  let result =
    bytes.withContiguousStorageIfAvailable(outcome)
    ?? Array(bytes).withUnsafeBufferPointer(outcome)
  return try result.get()
}

/// Reads the primitives of the format and accepts only canonical encodings.
///
/// The bytes must outlive the reader, which does not copy them. It never
/// allocates memory for a count that the remaining bytes cannot hold.
package struct WireReader {
  private let bytes: UnsafeRawBufferPointer
  package private(set) var offset: Int
  /// The end of the current part.
  private(set) var end: Int
  package let kind: WireKind

  /// Opens a message and validates its kind, its version and its checksum.
  package init(
    opening bytes: UnsafeRawBufferPointer, as kinds: [WireKind]
  ) throws(WireError) {
    func fail(
      _ code: WireError.Code, _ offset: Int, _ expected: String
    ) -> WireError {
      WireError(code: code, offset: offset, expected: expected)
    }
    guard bytes.count > 2 else {
      throw fail(
        .truncated, bytes.count, "a header of three bytes: R, kind, version")
    }
    guard bytes[0] == WireKind.firstByte,
      let kind = WireKind(rawValue: bytes[1])
    else {
      throw fail(
        .unrecognizedFormat, 0, "a message that begins with R and its kind")
    }
    guard kinds.contains(kind) else {
      throw fail(
        .unexpectedKind, 1,
        "a \(kinds.map(\.name).joined(separator: " or ")), not a \(kind.name)")
    }
    guard bytes[2] == WireKind.version else {
      throw fail(
        bytes[2] < WireKind.version ? .olderVersion : .newerVersion, 2,
        "version \(WireKind.version) of the format, not \(bytes[2])")
    }
    end = bytes.count - WireChecksum.size
    guard end >= 3 else {
      throw fail(.truncated, bytes.count, "a checksum of four bytes")
    }
    let sum = WireChecksum.of(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
    let stored = bytes.loadUnaligned(fromByteOffset: end, as: UInt32.self)
    guard UInt32(littleEndian: stored) == sum else {
      throw fail(.checksumMismatch, end, "the checksum of the bytes before it")
    }
    self.bytes = bytes
    self.kind = kind
    offset = 3
  }

  /// Creates a reader at an offset of a validated message.
  init(_ bytes: UnsafeRawBufferPointer, of kind: WireKind, from offset: Int) {
    (self.bytes, self.kind, self.offset) = (bytes, kind, offset)
    end = bytes.count - WireChecksum.size
  }

  /// Returns to an earlier offset to read a part again.
  mutating func goBack(to offset: Int) { self.offset = offset }

  /// The number of remaining bytes.
  package var remaining: Int { end - offset }

  package func error(
    _ code: WireError.Code, _ expected: @autoclosure () -> String,
    at offset: Int? = nil
  ) -> WireError {
    WireError(code: code, offset: offset ?? self.offset, expected: expected())
  }

  /// Throws an error unless a condition is met.
  @inline(__always)
  package func require(
    _ isMet: Bool, _ code: WireError.Code,
    _ expected: @autoclosure () -> String,
    at offset: Int? = nil
  ) throws(WireError) {
    if !isMet { throw error(code, expected(), at: offset) }
  }

  mutating func byte() throws(WireError) -> UInt8 {
    try require(offset < end, .truncated, "another byte")
    defer { offset += 1 }
    return bytes[offset]
  }

  package mutating func varint() throws(WireError) -> UInt64 {
    // Nearly all integers take one byte.
    if offset < end, bytes[offset] < 0x80 {
      defer { offset += 1 }
      return UInt64(bytes[offset])
    }
    return try integer()
  }

  /// Reads an integer with seven bits per byte, the lowest first.
  private mutating func integer() throws(WireError) -> UInt64 {
    let start = offset
    var (number, shift) = (0 as UInt64, 0)
    while true {
      let next = try byte()
      let part = UInt64(next & 0x7f)
      try require(
        shift < 64 && (part << shift) >> shift == part, .invalid,
        "an integer of 64 bits", at: start)
      number |= part << shift
      if next < 0x80 {
        try require(
          next != 0 || shift == 0, .notCanonical,
          "the shortest form of an integer", at: start)
        return number
      }
      shift += 7
    }
  }

  mutating func signed() throws(WireError) -> Int64 {
    Int64(zigzag: try varint())
  }

  /// Reads a 128-bit integer in zigzag form.
  mutating func wide() throws(WireError) -> WideInt {
    let start = offset
    var (high, low, shift): (UInt64, UInt64, UInt64) = (0, 0, 0)
    while true {
      let next = try byte()
      let part = UInt64(next & 0x7f)
      try require(
        shift < 126 || shift == 126 && part < 4, .invalid,
        "an integer of 128 bits", at: start)
      // Shifts by 64 bits or more result in zero, in either direction.
      low |= part << shift
      high |= shift < 64 ? part >> (64 - shift) : part << (shift - 64)
      if next < 0x80 {
        try require(
          next != 0 || shift == 0, .notCanonical,
          "the shortest form of an integer", at: start)
        let sign = 0 &- (low & 1)
        return WideInt(
          high: Int64(bitPattern: high >> 1 ^ sign),
          low: (low >> 1 | high << 63) ^ sign)
      }
      shift += 7
    }
  }

  /// Reads a count of items of at least `size` bytes each.
  ///
  /// - Parameter more: The number of items in addition to the encoded number.
  package mutating func count(
    of size: Int = 1, more: UInt64 = 0
  ) throws(WireError) -> Int {
    let start = offset
    let (number, overflow) = try varint().addingReportingOverflow(more)
    try require(
      !overflow && number <= UInt64(remaining / size), .truncated,
      "at least \(size) bytes for each of \(number) items", at: start)
    return Int(number)
  }

  /// Reads two small 32-bit integers, which are not yet validated.
  mutating func pair() throws(WireError) -> (low: Int, high: Int) {
    let both = try byte()
    var (low, high) = (Int(both & 15), Int(both >> 4))
    if low == 15 { low += try rest() }
    if high == 15 { high += try rest() }
    return (low, high)
  }

  private mutating func rest() throws(WireError) -> Int {
    let start = offset
    let number = try varint()
    try require(
      number <= UInt64(Int32.max) - 15, .invalid, "an integer of 31 bits",
      at: start)
    return Int(number)
  }

  mutating func fixed() throws(WireError) -> UInt64 {
    let word = try take(8).loadUnaligned(as: UInt64.self)
    return UInt64(littleEndian: word)
  }

  /// Returns whether two ranges contain the same bytes.
  func hasEqualBytes(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
    UnsafeRawBufferPointer(rebasing: bytes[one])
      .hasEqualBytes(UnsafeRawBufferPointer(rebasing: bytes[other]))
  }

  /// Skips some bytes if they are the next ones, and returns whether they are.
  mutating func skip(_ next: [UInt8]) -> Bool {
    guard !next.isEmpty, next.count <= remaining else { return false }
    let range = offset..<(offset + next.count)
    let isNext = next.withUnsafeBytes {
      UnsafeRawBufferPointer(rebasing: bytes[range]).hasEqualBytes($0)
    }
    if isNext { offset = range.upperBound }
    return isNext
  }

  /// Returns the bytes between an earlier offset and the next byte.
  func read(from start: Int) -> [UInt8] { Array(bytes[start..<offset]) }

  /// Returns the next `count` bytes without copying them.
  package mutating func take(_ count: Int) throws(WireError)
    -> UnsafeRawBufferPointer
  {
    try require(
      count <= remaining, .truncated, "\(count) more bytes, not \(remaining)")
    defer { offset += count }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)])
  }

  /// Reads a text of `count` bytes.
  ///
  /// - Parameter isBuilding: Whether the text is needed. If not, it is only
  ///   validated.
  package mutating func text(
    _ count: Int, isBuilding: Bool = true
  ) throws(WireError) -> String {
    let start = offset
    let bytes = try take(count)
    try checkText(bytes, at: start)
    return isBuilding ? String(decoding: bytes, as: UTF8.self) : ""
  }

  /// Throws an error unless the bytes are well-formed UTF-8.
  func checkText(
    _ bytes: some Collection<UInt8>, at start: Int
  ) throws(WireError) {
    let isASCII = bytes.reduce(0 as UInt8, |) < 0x80
    try require(
      isASCII || String(validating: bytes, as: UTF8.self) != nil, .invalid,
      "a text in valid UTF-8", at: start)
  }

  /// Reads the next `count` bytes as a part.
  ///
  /// `body` must read all of them.
  mutating func part<Result>(
    _ count: Int, _ body: (inout WireReader) throws(WireError) -> Result
  ) throws(WireError) -> Result {
    let outer = end
    try require(
      count <= remaining, .truncated, "\(count) more bytes, not \(remaining)")
    end = offset + count
    let result = try body(&self)
    try finish()
    end = outer
    return result
  }

  /// Throws an error if any bytes remain.
  package func finish() throws(WireError) {
    try require(
      offset == end, .invalid,
      "the end of the content, not \(remaining) more bytes")
  }
}

extension UnsafeRawBufferPointer {
  /// Returns whether two buffers have the same bytes.
  ///
  /// It compares eight bytes at once, unlike `elementsEqual`.
  package func hasEqualBytes(_ other: UnsafeRawBufferPointer) -> Bool {
    if count != other.count { return false }
    var i = 0
    while i + 8 <= count {
      let word = loadUnaligned(fromByteOffset: i, as: UInt64.self)
      if word != other.loadUnaligned(fromByteOffset: i, as: UInt64.self) {
        return false
      }
      i += 8
    }
    while i < count {
      if self[i] != other[i] { return false }
      i += 1
    }
    return true
  }
}
