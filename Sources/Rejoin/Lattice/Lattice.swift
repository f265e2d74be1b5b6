// SPDX-License-Identifier: Apache-2.0

/// A type whose values can always be joined into one that knows what both know.
///
/// Let `a ⊔ b` be the result of merging `b` into `a`. For all values:
///
/// - `a ⊔ b = b ⊔ a` (commutative),
/// - `(a ⊔ b) ⊔ c = a ⊔ (b ⊔ c)` (associative),
/// - `a ⊔ a = a` (idempotent),
///
/// so replicas that heard the same things, in whatever order and however often,
/// are equal. The join is total: it throws nothing, traps on nothing, and creates
/// no save of its own. A type that breaks one of these laws must not conform.
///
/// A struct of lattices is a lattice, joined part by part:
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
  /// The join of this value and `other`.
  public func merging(_ other: Self) -> Self {
    var join = self
    join.merge(other)
    return join
  }
}

// Stated here, since clocks are on a lower floor.
extension VectorClock: Lattice {}
