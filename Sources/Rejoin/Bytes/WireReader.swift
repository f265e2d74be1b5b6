// SPDX-License-Identifier: Apache-2.0

/// Calls `body` with bytes where they are, or with a copy of those that do not lie
/// next to each other.
func withBytes<Result>(
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

/// Reads the primitives of the byte format, and refuses what no writer writes.
///
/// It looks at bytes that somebody else owns, which must outlive it. Nothing is
/// allocated by a number that the bytes cannot back.
struct WireReader {
  private let bytes: UnsafeRawBufferPointer
  private(set) var offset: Int
  /// Where the part that is being read ends.
  private(set) var end: Int
  let kind: WireKind

  /// Opens a message: looks at its beginning, its version and its checksum.
  init(
    opening bytes: UnsafeRawBufferPointer, as kinds: [WireKind]
  ) throws(WireError) {
    func fail(
      _ code: WireError.Code, _ offset: Int, _ expected: String
    ) -> WireError {
      WireError(code: code, offset: offset, expected: expected)
    }
    guard bytes.count > 2 else {
      throw fail(.truncated, bytes.count, "a kind and a version")
    }
    guard bytes[0] == WireKind.mark, let kind = WireKind(rawValue: bytes[1])
    else { throw fail(.unrecognizedFormat, 0, "R and the letter of a kind") }
    guard kinds.contains(kind) else {
      throw fail(
        .unexpectedKind, 1,
        "a \(kinds.map(\.name).joined(separator: " or ")), not a \(kind.name)")
    }
    guard bytes[2] == WireKind.version else {
      throw fail(
        bytes[2] < WireKind.version ? .unrecognizedFormat : .newerVersion, 2,
        "version \(WireKind.version) of the format, not \(bytes[2])")
    }
    end = bytes.count - WireChecksum.size
    guard end >= 3 else {
      throw fail(.truncated, bytes.count, "a checksum")
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

  /// The number of bytes that are left.
  var remaining: Int { end - offset }

  func error(
    _ code: WireError.Code, _ expected: @autoclosure () -> String,
    at offset: Int? = nil
  ) -> WireError {
    WireError(code: code, offset: offset ?? self.offset, expected: expected())
  }

  mutating func byte() throws(WireError) -> UInt8 {
    guard offset < end else { throw error(.truncated, "another byte") }
    defer { offset += 1 }
    return bytes[offset]
  }

  mutating func varint() throws(WireError) -> UInt64 {
    let start = offset
    var (number, shift) = (0 as UInt64, 0 as UInt64)
    while true {
      let next = try byte()
      if shift == 63, next > 1 {
        throw error(.invalid, "a number of 64 bits", at: start)
      }
      number |= UInt64(next & 0x7f) << shift
      if next < 0x80 {
        guard next != 0 || shift == 0 else {
          throw error(.notCanonical, "the shortest form", at: start)
        }
        return number
      }
      shift += 7
    }
  }

  mutating func signed() throws(WireError) -> Int64 {
    Int64(zigzag: try varint())
  }

  mutating func wide() throws(WireError) -> Int128 {
    let start = offset
    var (number, shift) = (0 as UInt128, 0 as UInt128)
    while true {
      let next = try byte()
      if shift == 126, next > 3 {
        throw error(.invalid, "a number of 128 bits", at: start)
      }
      number |= UInt128(next & 0x7f) << shift
      if next < 0x80 {
        guard next != 0 || shift == 0 else {
          throw error(.notCanonical, "the shortest form", at: start)
        }
        let sign = -Int128(bitPattern: number & 1)
        return Int128(bitPattern: number >> 1) ^ sign
      }
      shift += 7
    }
  }

  /// A number of things, each of which takes at least `size` bytes.
  mutating func count(of size: Int = 1) throws(WireError) -> Int {
    let start = offset
    let number = try varint()
    guard number <= UInt64(remaining / size) else {
      throw error(.truncated, "room for \(number) of them", at: start)
    }
    return Int(number)
  }

  /// Two small numbers of 32 bits, which nothing vouches for yet.
  mutating func pair() throws(WireError) -> (low: Int, high: Int) {
    let both = try byte()
    var (low, high) = (Int(both & 15), Int(both >> 4))
    if low == 15 { low += try rest() }
    if high == 15 { high += try rest() }
    return (low, high)
  }

  private mutating func rest() throws(WireError) -> Int {
    let start = offset
    guard let number = Int32(exactly: try varint()) else {
      throw error(.invalid, "a number of 32 bits", at: start)
    }
    return Int(number)
  }

  mutating func fixed() throws(WireError) -> UInt64 {
    let word = try take(8).loadUnaligned(as: UInt64.self)
    return UInt64(littleEndian: word)
  }

  /// The next bytes, where they are.
  mutating func take(_ count: Int) throws(WireError) -> UnsafeRawBufferPointer {
    guard count <= remaining else {
      throw error(.truncated, "\(count) bytes")
    }
    defer { offset += count }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)])
  }

  /// Text of the next `count` bytes.
  mutating func text(_ count: Int) throws(WireError) -> String {
    let start = offset
    return try text(of: take(count), at: start)
  }

  func text(
    of bytes: some Collection<UInt8>, at start: Int
  ) throws(WireError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw error(.invalid, "UTF-8", at: start)
    }
    return text
  }

  /// Goes back to read a part again.
  mutating func goBack(to offset: Int) { self.offset = offset }

  /// Reads the next `count` bytes as a part of their own.
  mutating func part<Result>(
    _ count: Int, _ body: (inout WireReader) throws(WireError) -> Result
  ) throws(WireError) -> Result {
    let outer = end
    guard count <= remaining else {
      throw error(.truncated, "\(count) bytes")
    }
    end = offset + count
    let result = try body(&self)
    try finish()
    end = outer
    return result
  }

  /// Refuses what is left over.
  func finish() throws(WireError) {
    guard offset == end else {
      throw error(.invalid, "the end, not \(remaining) more bytes")
    }
  }
}
