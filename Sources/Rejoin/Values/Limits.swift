// SPDX-License-Identifier: Apache-2.0

/// The bounds of the format.
package enum Limits {
  /// How many bytes of a key may be those of the key before, so that reading does
  /// not multiply them without end.
  static let sharedBytes = 63

  /// How many bytes the name of an entity, a field or a variant takes at most:
  /// every record refers to some, and to look one up costs its length.
  package static let nameBytes = 255

  /// Whether a text can name a field or a variant.
  static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= nameBytes
  }

  /// How many fields of an entity are held ready; more than these are rare and
  /// read again each time.
  static let keptFields = 512

  /// How many entries of one device in a ledger may be folded: their sums stay
  /// far from the end of 128 bits.
  static let foldedEntries: UInt64 = 1 << 40
}
