// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// The parts of some trees, in a defined order.
struct JSONPool {
  let parts: [JSONTree]
  fileprivate let partsByForm: [[String]: [JSONTree]]

  init(_ trees: [JSONTree]) {
    parts = trees.flatMap(\.parts)
    partsByForm = Dictionary(grouping: parts, by: \.form)
  }
}

extension JSONTree {
  private static let numbers: [UInt64] = [
    0, 1, 2, 3, 1 << 40, 1 << 40 + 1, 1 << 63, .max,
  ]
  private static let texts = [
    "", "0", "-0", "+1", "-1", "01", "7", "18446744073709551615",
    "18446744073709551616", "-9223372036854775808",
    "\(WideInt.max)", "\(WideInt.min)", "inf", "nan", "register", "counter",
    "set", "ledger", "Note", "Task", "rejoin.roster", "rejoin.retirement",
    String(repeating: "n", count: 255), String(repeating: "n", count: 256),
  ]

  /// Changes the tree at random.
  ///
  /// - Parameter pool: The parts that may replace a part.
  mutating func mutate(
    with pool: JSONPool, _ random: inout SeededRandom
  ) {
    // The number is an index of `parts`.
    var number = random.number(below: parts.count)
    replace(&number) { $0.mutatePart(with: pool, &random) }
  }

  private mutating func mutatePart(
    with pool: JSONPool, _ random: inout SeededRandom
  ) {
    let alike = pool.partsByForm[form] ?? []
    if !alike.isEmpty, random.chance(percent: 40) {
      return self = random.pick(alike)
    }
    switch self {
    case .bool(let flag): self = .bool(!flag)
    case .unsigned(let number):
      self = .unsigned(
        random.pick(Self.numbers + [number &+ 1, number &- 1]))
    case .signed: self = .signed(random.pick([0, -1, .min, .max]))
    case .text: self = .text(random.pick(Self.texts))
    case .null: self = random.pick(pool.parts)
    case .list(let parts): self = .list(Self.mutated(parts, &random))
    case .object(var parts):
      guard let key = parts.keys.sorted().randomElement(using: &random) else {
        return
      }
      parts[key] = random.chance(percent: 70) ? nil : random.pick(pool.parts)
      self = .object(parts)
    }
  }

  private static func mutated(
    _ parts: [JSONTree], _ random: inout SeededRandom
  ) -> [JSONTree] {
    guard !parts.isEmpty else { return [] }
    var parts = parts
    let (i, j) = (
      random.number(below: parts.count), random.number(below: parts.count)
    )
    switch random.number(below: 3) {
    case 0: parts.remove(at: i)
    case 1: parts.insert(parts[j], at: i)
    default: parts.swapAt(i, j)
    }
    return parts
  }

  /// The type and, of an object, the keys.
  fileprivate var form: [String] {
    switch self {
    case .null: ["null"]
    case .bool: ["bool"]
    case .unsigned, .signed: ["number"]
    case .text: ["text"]
    case .list: ["list"]
    case .object(let parts): parts.keys.sorted() + ["object"]
    }
  }
}
