// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension FieldDifference {
  /// A value to offer where both sides have changed a text: the changes of both, word
  /// by word, if they do not touch.
  ///
  ///     FieldDifference(
  ///       field: "title", base: "Buy milk", mine: "Buy oat milk",
  ///       store: "Buy milk today"
  ///     ).mergedByWords  // "Buy oat milk today"
  ///
  /// - Returns: `nil` if a side is no text, if the changes touch each other, or if a
  ///   text has more than 5,000 words.
  /// - Complexity: O(*n* · *d*) for *n* words and *d* differences.
  public var mergedByWords: Value? {
    guard case .string(let base)? = base, case .string(let mine)? = mine,
      case .string(let store)? = store
    else { return nil }
    let words = [base, mine, store].map(\.words)
    guard words.allSatisfy({ $0.count <= 5000 }) else { return nil }
    return WordMerge.merge(words[0], words[1], words[2]).map { .string($0) }
  }

  /// The value to offer first where both sides have changed a register: the changes
  /// of both if they do not touch, or else the value that is farther from the base; of
  /// two that are equally far, the later.
  ///
  /// It is a guess. Of the real conflicts that this project knows, people chose that
  /// value in nearly half, and the later one in a third: `rejoin compare
  /// --suggestions FILE` counts them.
  public var suggested: Value? {
    if let merged = mergedByWords { return merged }
    let (mineIs, storeIs) = (
      WordMerge.distance(from: base, to: mine),
      WordMerge.distance(from: base, to: store)
    )
    return mineIs == storeIs
      ? (storeIsLater ? store : mine) : mineIs > storeIs ? mine : store
  }
}

extension MergePolicy {
  /// Writes what the context changed, and where both sides changed a field, the
  /// ``FieldDifference/suggested`` value, beside the store's.
  ///
  /// Nothing is dropped: siblings that the context had not shown stay as conflicts. It
  /// is offered, and never a default.
  public static let suggesting = MergePolicy.custom { field in
    if !field.isDirty { return .keepStore }
    return .writeConcurrently(field.isChanged ? field.suggested : field.mine)
  }
}

extension Sequence<Value> {
  /// The greatest number among the siblings of a register; `nil` if there is none.
  ///
  /// A rule for what to show of a version or a high score. It depends on the siblings
  /// alone, so that all replicas show the same.
  public var greatestNumber: Value? {
    filter {
      switch $0 {
      case .int, .double: true
      default: false
      }
    }.max {
      let (a, b) = ($0.number, $1.number)
      return (a.near, a.rest, $0) < (b.near, b.rest, $1)
    }
  }

  /// The greatest of some texts by the numbers in them, as versions are ordered:
  /// `1.10` is after `1.9`.
  public var greatestVersion: Value? {
    filter { if case .string = $0 { true } else { false } }
      .max { $0.isVersion(before: $1) }
  }
}

extension Value {
  /// The nearest number with a fraction, and how far an integer is above it: beyond
  /// 2^53, several have the same.
  fileprivate var number: (near: Double, rest: Int64) {
    switch self {
    case .int(let number):
      let near = Double(number)
      return (near, near < 0x1p63 ? number - Int64(near) : number &- .min)
    case .double(let number): return (number.isNaN ? -.infinity : number, 0)
    default: return (-.infinity, 0)
    }
  }

  /// The numbers are compared as numbers, and what is between them as text.
  fileprivate func isVersion(before other: Value) -> Bool {
    guard case .string(let a) = self, case .string(let b) = other else {
      return self < other
    }
    for (x, y) in zip(a.words, b.words) where !x.utf8.elementsEqual(y.utf8) {
      switch (UInt64(x), UInt64(y)) {
      case (let x?, let y?) where x != y: return x < y
      // A number is before a word, so that the order has no circles.
      case (_?, nil): return true
      case (nil, _?): return false
      default: return Value.string(String(x)) < Value.string(String(y))
      }
    }
    return (a.words.count, self) < (b.words.count, other)
  }
}
