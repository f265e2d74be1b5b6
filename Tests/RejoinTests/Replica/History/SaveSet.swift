//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// A set of saves, each named by its place in a history of at most 128.
struct SaveSet: Hashable {
  private var bits: UInt128 = 0

  init() {}

  func contains(_ save: Int) -> Bool { bits >> UInt128(save) & 1 == 1 }

  mutating func insert(_ save: Int) { bits |= 1 << UInt128(save) }

  mutating func formUnion(_ other: SaveSet) { bits |= other.bits }

  func isSubset(of other: SaveSet) -> Bool { bits & ~other.bits == 0 }

  var isEmpty: Bool { bits == 0 }

  /// The places of the saves, in the order of the history.
  var members: [Int] {
    var (rest, result) = (bits, [Int]())
    while rest != 0 {
      result.append(rest.trailingZeroBitCount)
      rest &= rest - 1
    }
    return result
  }
}
