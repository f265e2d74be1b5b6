// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Reads a message of the kind that its second byte names: as it is, and once more
/// with its checksum set right.
struct DecodeBody {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func check() throws(FuzzFailure) {
    try check(bytes)
    try check(bytes.resealed)
  }

  private func check(_ bytes: [UInt8]) throws(FuzzFailure) {
    guard let message = try read(bytes) else { return }
    try equal("again", message.encoded(), bytes)
    // A delta and a snapshot are kept as their bytes; records are written anew.
    for change in message.delta?.changes ?? [] {
      let bytes = change.encoded()
      guard case .record(let again) = try read(bytes) else {
        throw FuzzFailure("a record that is written is refused")
      }
      try equal("a record", again, change)
      try equal("a record anew", again.encoded(), bytes)
    }
  }

  /// Reads a message, and looks at the error if there is one.
  private func read(_ bytes: [UInt8]) throws(FuzzFailure) -> Message? {
    do throws(WireError) { return try Message(decoding: bytes) } catch {
      try require(
        (0...bytes.count).contains(error.offset) && !error.expected.isEmpty,
        "an error without a place or a reason: \(error)")
      return nil
    }
  }
}
