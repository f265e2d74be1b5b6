//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// Random numbers that a seed determines: splitmix64.
public struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  /// Creates the source with a seed.
  public init(seed: UInt64) {
    // Mixed, since from seeds at equal distances comes one sequence, shifted.
    state = seed &* 0x9e37_79b9_7f4a_7c15 &+ 1
    state = next()
  }

  /// The next 64 bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// A number below `bound`.
  public mutating func below(_ bound: Int) -> Int {
    Int(next() % UInt64(bound))
  }

  /// True in `percent` cases of a hundred.
  public mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  /// One of the choices.
  ///
  /// - Precondition: There is one.
  public mutating func pick<Element>(_ choices: [Element]) -> Element {
    choices[below(choices.count)]
  }
}
