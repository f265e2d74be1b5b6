// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension String {
  /// Runs of letters and digits, runs of spaces, and all other characters one by one.
  var words: [Substring] {
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

/// Texts as words.
enum WordMerge {
  /// A part of a text, and what a side has put in its place.
  private struct Hunk: Equatable {
    let range: Range<Int>
    let words: [Substring]
  }

  /// The parts of a text that a side has changed, in order.
  private static func hunks(
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
  static func merge(
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
  static func distance(from base: Value?, to value: Value?) -> Double {
    let (a, b) = (base.text.words, value.text.words)
    let count = a.count + b.count
    // Far longer texts than anybody enters in a form are taken as a whole.
    if count == 0 || count > 10_000 { return a == b ? 0 : 1 }
    return Double(b.difference(from: a).count) / Double(count)
  }
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
