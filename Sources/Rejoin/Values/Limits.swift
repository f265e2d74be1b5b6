// SPDX-License-Identifier: Apache-2.0

/// The limits of the format.
package enum Limits {
  /// The maximum number of bytes that a key shares with the previous one.
  ///
  /// Without a limit, a small message could expand to any size in memory.
  static let sharedBytes = 63

  /// The maximum number of bytes in the name of an entity, a field or a
  /// variant.
  ///
  /// Records refer to names, and the cost of each look-up grows with their
  /// length.
  package static let nameBytes = 255

  /// The maximum number of bytes in the key of a record and in the name of a
  /// scope.
  ///
  /// A hub has both in an index of its database. An index row of PostgreSQL has
  /// at most about 2,700 bytes.
  package static let keyBytes = 1024

  /// The maximum number of bytes in an encoded record after a save: 16 MiB.
  ///
  /// A join can exceed it, because a join must not fail.
  package static let recordBytes = 1 << 24

  /// The maximum number of records in a part of a delta.
  ///
  /// A hub accepts as many by default.
  package static let recordsPerPart = 2_000

  /// Returns whether a text can be the name of a field or a variant.
  static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= nameBytes
  }

  /// The maximum number of folded entries of one device in a ledger.
  ///
  /// A sum of 2⁴⁰ amounts has at most 103 bits, far from an overflow of 128
  /// bits.
  static let foldedEntries: UInt64 = 1 << 40
}
