// SPDX-License-Identifier: Apache-2.0

/// A law that applies to all values of a lattice, their changes and their
/// equality.
///
/// In the formulas, `a ⊔ b` is the result of merging `b` into `a`, `m` is a
/// change, and `δ` is the delta that the change returns.
public enum LatticeLaw: String, Hashable, Sendable, CaseIterable {
  /// Merging a value into itself changes nothing: `a ⊔ a = a`.
  case idempotent
  /// The direction of a merge makes no difference: `a ⊔ b = b ⊔ a`.
  case commutative
  /// The order of merges makes no difference: `(a ⊔ b) ⊔ c = a ⊔ (b ⊔ c)`.
  case associative
  /// A change only adds: `a ⊔ m(a) = m(a)`.
  case inflationary

  /// A delta does what the change did: `a ⊔ δ = m(a)`.
  case delta
  /// A delta has no other effect than the change: `m(a) ⊔ δ = m(a)`.
  case absorbed
  /// Merging all deltas gives the same value as all changes, even if deltas are
  /// delayed, duplicated and reordered.
  case anyOrder

  /// Values with the same changes are equal, regardless of the order of the
  /// changes.
  case canonical
  /// Equality is reflexive and symmetric.
  case equality
  /// Equal values have equal hashes.
  case hashing

  /// Decoding an encoded value gives an equal value.
  case roundTrip
  /// Equal values have equal bytes, and different values have different bytes.
  case equalBytes
  /// Encoding a decoded value gives the same bytes.
  case writtenAgain
  /// Decoded values merge like the original values.
  case joinedBytes
  /// Bytes that aren't the encoding of a value can't be decoded.
  case canonicalBytes

  /// A random change doesn't throw an error.
  case accepted
  /// At least one random change has an effect.
  ///
  /// Otherwise, nothing was checked.
  case effective
}

extension LatticeLaw {
  /// The law in a few words.
  public var statement: String {
    switch self {
    case .idempotent: "a ⊔ a = a"
    case .commutative: "a ⊔ b = b ⊔ a"
    case .associative: "(a ⊔ b) ⊔ c = a ⊔ (b ⊔ c)"
    case .inflationary: "a change only adds: a ⊔ m(a) = m(a)"
    case .delta: "a delta does what the change did: a ⊔ δ = m(a)"
    case .absorbed: "a delta says no more than the change: m(a) ⊔ δ = m(a)"
    case .anyOrder: "all deltas, doubled and in any order, are all changes"
    case .canonical: "equal histories by different routes are equal values"
    case .equality: "== is reflexive and symmetric"
    case .hashing: "equal values have equal hashes"
    case .roundTrip: "what is read equals what was written"
    case .equalBytes: "equal values, and they alone, have equal bytes"
    case .writtenAgain: "what was read is written as it was"
    case .joinedBytes: "values that were read join like those written"
    case .canonicalBytes: "bytes are refused, or are what their value writes"
    case .accepted: "a random change throws nothing"
    case .effective: "some random change has an effect"
    }
  }
}
