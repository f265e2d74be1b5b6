// SPDX-License-Identifier: Apache-2.0

/// What must hold for all values of a lattice, its changes and its equality.
///
/// `a ⊔ b` is the result of merging `b` into `a`; `m` is a change and `δ` the delta
/// that it returns.
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
  /// A delta says nothing that the change did not do: `m(a) ⊔ δ = m(a)`.
  case absorbed
  /// Merging all deltas, delayed, duplicated and reordered, gives the same value as
  /// all changes.
  case anyOrder

  /// Values that have received the same changes, in any order, are equal.
  case canonical
  /// Equality is reflexive and symmetric.
  case equality
  /// Equal values have equal hashes.
  case hashing

  /// Decoding an encoded value gives an equal value.
  case roundTrip
  /// Equal values have equal bytes, and different values different ones.
  case equalBytes
  /// Encoding a decoded value gives the same bytes.
  case writtenAgain
  /// Decoded values merge like the values they were encoded from.
  case joinedBytes
  /// Bytes that are not the encoding of a value are refused.
  case canonicalBytes

  /// A random change throws nothing.
  case accepted
  /// Some random change has an effect; otherwise nothing was checked.
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
