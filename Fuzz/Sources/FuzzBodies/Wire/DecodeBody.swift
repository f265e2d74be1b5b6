// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification

/// Decodes a message of the kind that its second byte names, unchanged and
/// with a correct checksum, and a position.
struct DecodeBody {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func check() throws(FuzzFailure) {
    try check(bytes)
    try check(bytes.resealed)
    do { try PositionLaws.check(bytes) } catch {
      throw FuzzFailure("a position: \(error)")
    }
  }

  private func check(_ bytes: [UInt8]) throws(FuzzFailure) {
    guard let message = try read(bytes) else { return }
    try equal("the message encoded again", message.encoded(), bytes)
    // A delta keeps its bytes, so the check above does not encode records.
    for change in message.delta?.changes ?? [] {
      let bytes = Delta([change]).encoded()
      guard case .delta(let again) = try read(bytes) else {
        throw FuzzFailure("a record that was encoded is refused")
      }
      try equal("a record decoded again", again.changes, [change])
    }
  }

  /// Decodes a message, and checks the error if it is refused.
  private func read(_ bytes: [UInt8]) throws(FuzzFailure) -> Message? {
    do throws(WireError) { return try Message(decoding: bytes) } catch {
      try require(
        (0...bytes.count).contains(error.offset) && !error.expected.isEmpty,
        "an error without an offset or a reason: \(error)")
      return nil
    }
  }
}
