// SPDX-License-Identifier: Apache-2.0

/// The bounds of the format.
package enum Limits {
  /// The greatest number of bytes that a key shares with the previous one.
  ///
  /// Without a bound, reading would expand a message to any multiple of its
  /// size.
  static let sharedBytes = 63

  /// The greatest number of bytes in the name of an entity, a field or a
  /// variant.
  ///
  /// Records refer to them, and each look-up takes time in proportion to its
  /// length.
  package static let nameBytes = 255

  /// Whether a text can be the name of a field or a variant.
  static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= nameBytes
  }

  /// The greatest number of folded entries of one device in a ledger: their
  /// sums have at most 103 bits, far from an overflow of 128.
  static let foldedEntries: UInt64 = 1 << 40
}
