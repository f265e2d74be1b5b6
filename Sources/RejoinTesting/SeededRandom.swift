// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A generator of random numbers that a seed determines (splitmix64).
///
///     var random = SeededRandom(seed: 7)
///     random.number(below: 10)          // 7, today and everywhere
///     random.pick(["a", "b"])   // "a"
///
/// A seed gives the same numbers on every platform and with every version of
/// the standard library, so you can replay a failure from its seed. See Steele,
/// Lea, Flood, *Fast splittable pseudorandom number generators* (2014).
public struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator with a seed.
  public init(seed: UInt64) { state = seed }

  /// Returns the next 64 random bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// Returns a random number from zero up to, but not including, `bound`.
  ///
  /// - Precondition: `bound` is positive.
  public mutating func number(below bound: Int) -> Int {
    demand(bound > 0, "there is no number below \(bound)")
    return Int(next() % UInt64(bound))
  }

  /// Returns `true` with a probability of `percent` in 100.
  public mutating func chance(percent: Int) -> Bool {
    number(below: 100) < percent
  }

  /// Returns a random element of an array.
  ///
  /// - Precondition: `choices` isn't empty.
  public mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
    choices[number(below: choices.count)]
  }

  /// Returns the elements of an array in random order.
  public mutating func shuffled<Element>(_ list: [Element]) -> [Element] {
    var list = list
    for i in list.indices.dropFirst() { list.swapAt(i, number(below: i + 1)) }
    return list
  }

  /// Returns a random timestamp.
  ///
  /// The timestamps are often equal and don't follow the order of events, as if
  /// the devices' clocks were wrong.
  public mutating func timestamp() -> Timestamp {
    Timestamp(milliseconds: Int64(number(below: 5)))
  }
}
