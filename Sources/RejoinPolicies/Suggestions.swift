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
    return merge(words[0], words[1], words[2]).map { .string($0) }
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
      distance(from: base, to: mine), distance(from: base, to: store)
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
    }.max { $0.number < $1.number }
  }

  /// The greatest of some texts by the numbers in them, as versions are ordered:
  /// `1.10` is after `1.9`.
  public var greatestVersion: Value? {
    filter { if case .string = $0 { true } else { false } }
      .max { $0.isVersion(before: $1) }
  }
}

extension Value {
  fileprivate var number: Double {
    switch self {
    case .int(let number): Double(number)
    case .double(let number): number.isNaN ? -.infinity : number
    default: -.infinity
    }
  }

  /// The numbers are compared as numbers, and what is between them as text.
  fileprivate func isVersion(before other: Value) -> Bool {
    guard case .string(let a) = self, case .string(let b) = other else {
      return self < other
    }
    for (x, y) in zip(a.words, b.words) where x != y {
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

extension String {
  /// Runs of letters and digits, runs of spaces, and all other characters one by one.
  fileprivate var words: [Substring] {
    var words: [Substring] = []
    var rest = self[...]
    while let first = rest.first {
      let isSame: (Character) -> Bool =
        first.isWhitespace
        ? \.isWhitespace : { $0.isLetter || $0.isNumber || $0 == "_" }
      let run = isSame(first) ? rest.prefix(while: isSame) : rest.prefix(1)
      words.append(run)
      rest = rest[run.endIndex...]
    }
    return words
  }
}

/// A part of a text, and what a side has put in its place.
private struct Hunk: Equatable {
  let range: Range<Int>
  let words: [Substring]
}

/// The parts of a text that a side has changed, in order.
private func hunks(
  _ base: [Substring], _ side: [Substring]
) -> [Hunk] {
  var (removed, inserted) = (Set<Int>(), Set<Int>())
  for change in side.difference(from: base) {
    switch change {
    case .remove(let place, _, _): removed.insert(place)
    case .insert(let place, _, _): inserted.insert(place)
    }
  }
  var hunks: [Hunk] = []
  var (b, s) = (0, 0)
  while b < base.count || s < side.count {
    let (from, start) = (b, s)
    while b < base.count, removed.contains(b) { b += 1 }
    while s < side.count, inserted.contains(s) { s += 1 }
    if from < b || start < s {
      hunks.append(Hunk(range: from..<b, words: Array(side[start..<s])))
    }
    // What both have.
    if b < base.count { (b, s) = (b + 1, s + 1) }
  }
  return hunks
}

/// Both sides' changes in one text; `nil` if they touch each other.
private func merge(
  _ base: [Substring], _ mine: [Substring], _ store: [Substring]
) -> String? {
  let mine = hunks(base, mine)
  var all = mine
  for hunk in hunks(base, store) where !mine.contains(hunk) {
    let touches = mine.contains {
      $0.range.lowerBound <= hunk.range.upperBound
        && hunk.range.lowerBound <= $0.range.upperBound
    }
    if touches { return nil }
    all.append(hunk)
  }
  all.sort { $0.range.lowerBound < $1.range.lowerBound }
  var (text, place) = ("", 0)
  for hunk in all {
    text += base[place..<hunk.range.lowerBound].joined()
    text += hunk.words.joined()
    place = hunk.range.upperBound
  }
  return text + base[place...].joined()
}

/// The share of words that differ, from 0 to 1.
private func distance(from base: Value?, to value: Value?) -> Double {
  let (a, b) = (base.text.words, value.text.words)
  let count = a.count + b.count
  // Far longer texts than anybody enters in a form are taken as a whole.
  if count == 0 || count > 10_000 { return a == b ? 0 : 1 }
  return Double(b.difference(from: a).count) / Double(count)
}

extension Value? {
  fileprivate var text: String {
    switch self {
    case nil: ""
    case .string(let text): text
    case let value?: value.description
    }
  }
}
