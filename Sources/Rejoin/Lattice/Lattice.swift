// SPDX-License-Identifier: Apache-2.0

/// A join semilattice, which is a type whose values can all be joined.
///
/// Let `a ⊔ b` be the result of merging `b` into `a`. The following laws hold
/// for all values:
///
/// - `a ⊔ b = b ⊔ a` (commutative),
/// - `(a ⊔ b) ⊔ c = a ⊔ (b ⊔ c)` (associative),
/// - `a ⊔ a = a` (idempotent),
///
/// Replicas that have received the same updates are therefore equal, whatever
/// the order and the number of repetitions. The join is total: it never throws,
/// never traps and never creates a dot. A type that breaks one of these laws
/// must not conform.
///
/// A struct of lattices is a lattice, joined property by property:
///
///     struct Profile: Lattice {
///       var name = MVRegister<String>()
///       var likes = PNCounter()
///       mutating func merge(_ other: Profile) {
///         name.merge(other.name)
///         likes.merge(other.likes)
///       }
///     }
public protocol Lattice {
  /// Joins `other` into this value.
  mutating func merge(_ other: Self)
}

extension Lattice {
  /// Returns the join of this value and `other`.
  public func merging(_ other: Self) -> Self {
    var join = self
    join.merge(other)
    return join
  }
}

// Declared here, because clocks are on a lower level of the library.
extension VectorClock: Lattice {}
