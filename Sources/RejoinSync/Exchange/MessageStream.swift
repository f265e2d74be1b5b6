// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Messages in a stream of bytes, each after its length as a varint.
package struct MessageStream: Sendable {
  /// The maximum number of bytes of a message.
  private static let limit = SyncMessage.exchangeLimit

  private var bytes: [UInt8] = []
  private var start = 0

  package init() {}

  /// Returns a message after its length.
  package static func framed(_ message: [UInt8]) -> [UInt8] {
    var writer = WireWriter()
    writer.varint(message.count)
    return writer.bytes + message
  }

  /// Adds a piece of the stream.
  package mutating func append(_ piece: some Sequence<UInt8>) {
    if start > 0, start * 2 > bytes.count {
      bytes.removeFirst(start)
      start = 0
    }
    bytes.append(contentsOf: piece)
  }

  /// Returns the next message, or `nil` if it is not complete.
  ///
  /// - Throws: `WireError` if a length is above the limit of messages. The stream
  ///   cannot be read further.
  package mutating func next() throws(WireError) -> [UInt8]? {
    // Five bytes of seven bits can exceed an `Int` of 32 bits.
    var (size, shift, offset) = (UInt64(0), 0, start)
    while true {
      guard offset < bytes.count else { return nil }
      let byte = bytes[offset]
      offset += 1
      if shift > 28 { throw tooLong(at: start) }
      size |= UInt64(byte & 0x7f) << shift
      shift += 7
      if byte < 0x80 { break }
    }
    if size > MessageStream.limit { throw tooLong(at: start) }
    let length = Int(size)
    guard bytes.count - offset >= length else { return nil }
    let message = Array(bytes[offset..<(offset + length)])
    start = offset + length
    return message
  }

  /// Checks the end of the stream.
  ///
  /// - Throws: `WireError` if it ends inside a message.
  package func finish() throws(WireError) {
    if start < bytes.count {
      throw WireError(
        code: .truncated, offset: bytes.count - start,
        expected: "the rest of a message")
    }
  }

  private func tooLong(at offset: Int) -> WireError {
    WireError(
      code: .invalid, offset: offset,
      expected: "a length of at most \(MessageStream.limit) bytes")
  }
}
