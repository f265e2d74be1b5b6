//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// A version of the byte format.
///
/// A minor version only adds sections that older readers can do without, so every
/// reader of a major version reads all of its minor versions. A new major version
/// is refused by older readers, with an error that names it.
public struct WireVersion: Hashable, Sendable {
  /// Rises when older readers cannot read what is written, at most 15.
  public let major: UInt8

  /// Rises when something is added that older readers can do without, at most
  /// 15.
  public let minor: UInt8

  /// The format without digests of histories: a name that was used twice is then
  /// noticed only where one number is ahead of the other.
  public static let v1_0 = WireVersion(major: 1, minor: 0)

  /// Adds the digests that devices chain over their saves, and what a sender
  /// disputes of the receiver's.
  public static let v1_1 = WireVersion(major: 1, minor: 1)

  /// The version that is written unless another is asked for.
  public static let current = v1_1

  /// The version in a message's third byte: the major in its upper half.
  var byte: UInt8 { major << 4 | minor }

  init(major: UInt8, minor: UInt8) {
    self.major = major
    self.minor = minor
  }

  init(byte: UInt8) { self.init(major: byte >> 4, minor: byte & 15) }

  /// Whether digests of histories have a place in the format.
  var hasHistories: Bool { minor >= WireVersion.v1_1.minor }
}

extension WireVersion: Comparable {
  public static func < (a: WireVersion, b: WireVersion) -> Bool {
    a.byte < b.byte
  }
}

extension WireVersion: CustomStringConvertible {
  /// The two numbers, for example `1.1`.
  public var description: String { "\(major).\(minor)" }
}
