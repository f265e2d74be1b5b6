//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

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
    let minor = bytes[2] & 15
    if minor == 0, case .replicaClock = message {
      return try equal("in 1.0", message.encoded(.v1_0), bytes)
    }
    // What was read is kept as its bytes; that it is another version makes it be
    // written anew.
    let stranger = bytes.asMinorVersion(15)
    guard let again = try read(stranger) else {
      throw FuzzFailure("refused as a newer minor version")
    }
    switch minor {
    case 0 where message.hasVersions:
      try equal("in 1.0", message.encoded(.v1_0), bytes)
      try equal("anew in 1.0", again.encoded(.v1_0), bytes)
    case WireVersion.current.minor:
      try equal("in 1.1", message.encoded(.current), bytes)
      try equal("anew in 1.1", again.encoded(.current), bytes)
    default: break
    }
    try checkVersions(of: again)
  }

  /// Every version that is written is read, and written again as it was.
  private func checkVersions(of message: Message) throws(FuzzFailure) {
    for version in [WireVersion.v1_0, .v1_1] {
      let bytes = message.encoded(version)
      guard let again = try read(bytes) else {
        throw FuzzFailure("what is written in \(version) is refused")
      }
      try equal("\(version) again", again.encoded(version), bytes)
      if case .replicaClock = message { continue }
      guard let anew = try read(bytes.asMinorVersion(15)) else {
        throw FuzzFailure("what is written in \(version) is refused as newer")
      }
      try equal("\(version) anew", anew.encoded(version), bytes)
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
