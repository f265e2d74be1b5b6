// SPDX-License-Identifier: Apache-2.0

/// A pseudorandom number generator with the same sequence for a seed on every
/// machine ([Steele, Lea, Flood 2014]).
///
/// [Steele, Lea, Flood 2014]: https://doi.org/10.1145/2660193.2660195
public struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates the generator with a seed.
  public init(seed: UInt64) { state = seed }

  /// Returns the next 64 random bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// A number from zero up to, and not including, `bound`, which must be
  /// positive.
  mutating func number(below bound: Int) -> Int {
    Int(next() % UInt64(bound))
  }

  /// Returns `true` with the given probability.
  mutating func happens(_ probability: Double) -> Bool {
    Double(next() >> 11) < probability * 0x1p53
  }
}
