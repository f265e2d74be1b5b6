// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// One edit, or several of one field, without effect in the end although no
/// later edit had seen them.
package enum Loss: Hashable, Sendable {
  /// A register does not show values that no later write had seen.
  ///
  /// Of several concurrent values only one can be shown; the edits lost beyond
  /// that are in excess. Values that only a report or an error has told are gone
  /// once that is read; those that not even a report has are unrecoverable.
  case register(
    String, lost: [Value?], shown: Value?, excess: Int, reported: [Value?],
    unrecoverable: [Value?])
  /// A counter is not the sum of its increments.
  case counter(String, expected: Int64, found: Int64)
  /// An element is missing although no removal had seen its insertion.
  case addition(String, Value)
  /// An element is present although a removal had seen every insertion.
  case removal(String, Value)
  /// A record exists and should not, or the other way round.
  case record(shouldExist: Bool)
}

extension Loss {
  /// The loss in numbers.
  package var count: Losses {
    var count = Losses()
    switch self {
    case .register(_, _, _, let excess, let reported, let unrecoverable):
      count.excess = excess
      count.reported = reported.count
      count.unrecoverable = unrecoverable.count
    case .counter(_, let expected, let found):
      (count.counterUnits, count.counters) = (expected.distance(from: found), 1)
    case .addition: count.addsLost = 1
    case .removal: count.removesUndone = 1
    case .record: count.recordsWrong = 1
    }
    return count
  }
}

extension Int64 {
  /// The absolute difference, clamped to the range of `Int`.
  func distance(from other: Int64) -> Int {
    let difference =
      self > other
      ? UInt64(bitPattern: self &- other) : UInt64(bitPattern: other &- self)
    return Int(clamping: difference)
  }
}

extension Loss: CustomStringConvertible {
  /// The loss in words.
  package var description: String {
    switch self {
    case .register(
      let field, let lost, let shown, let excess, let reported, let gone):
      let lost = lost.map(Self.text).joined(separator: ", ")
      let fate =
        !gone.isEmpty
        ? "unrecoverable"
        : reported.isEmpty ? "kept beside it" : "only reported"
      let shown = "\(field) shows \(Self.text(shown)), not \(lost) (\(fate))"
      return excess > 0 ? shown + "; this loss is avoidable" : shown
    case .counter(let field, let expected, let found):
      return "\(field) is \(found.grouped), not \(expected.grouped)"
    case .addition(let field, let element):
      return "\(field) lacks \(element), which no removal had seen"
    case .removal(let field, let element):
      return "\(field) has \(element) again, though it was removed"
    case .record(let shouldExist):
      return shouldExist
        ? "the record is deleted, though an update had not seen the deletion"
        : "the record exists, though every device deleted it"
    }
  }

  private static func text(_ value: Value?) -> String {
    value.map(\.description) ?? "unset"
  }
}
