// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// One thing that somebody did and that is not so in the end.
public enum Loss: Hashable, Sendable {
  /// Values that were written to a register and that nobody replaced knowingly
  /// are not shown.
  case register(
    String, lost: [Value?], shown: Value?, isAvoidable: Bool,
    unrecoverable: [Value?])
  /// A counter does not hold what was counted.
  case counter(String, expected: Int64, found: Int64)
  /// An element is missing though no removal had seen its insertion.
  case addition(String, Value)
  /// An element is there though a removal had seen every insertion.
  case removal(String, Value)
  /// A record is there and should not be, or the other way round.
  case record(shouldExist: Bool)
}

extension Loss {
  /// The loss in numbers.
  public var count: Losses {
    var count = Losses()
    switch self {
    case .register(_, _, _, let isAvoidable, let unrecoverable):
      count.excess = isAvoidable ? 1 : 0
      count.unrecoverable = unrecoverable.count
    case .counter(_, let expected, let found):
      count.counterUnits = expected.distance(from: found)
    case .addition: count.addsLost = 1
    case .removal: count.removesUndone = 1
    case .record: count.recordsWrong = 1
    }
    return count
  }
}

extension Int64 {
  /// How far apart two numbers are, or the greatest number there is.
  func distance(from other: Int64) -> Int {
    let difference =
      self > other
      ? UInt64(bitPattern: self &- other) : UInt64(bitPattern: other &- self)
    return Int(clamping: difference)
  }
}

extension Loss: CustomStringConvertible {
  /// The loss in words.
  public var description: String {
    switch self {
    case .register(let field, let lost, let shown, let isAvoidable, let gone):
      let lost = lost.map(Self.text).joined(separator: ", ")
      let fate = gone.isEmpty ? "kept in a conflict list" : "gone for good"
      let shown = "\(field) shows \(Self.text(shown)), not \(lost) (\(fate))"
      return isAvoidable ? shown + "; nobody meant that" : shown
    case .counter(let field, let expected, let found):
      return "\(field) is \(found.grouped), not \(expected.grouped)"
    case .addition(let field, let element):
      return "\(field) lacks \(element), which no removal had seen"
    case .removal(let field, let element):
      return "\(field) has \(element) again, though it was removed"
    case .record(let shouldExist):
      return shouldExist
        ? "the record is gone, though it was updated by somebody who had not "
          + "seen it deleted"
        : "the record is there, though everybody deleted it"
    }
  }

  private static func text(_ value: Value?) -> String {
    value.map(\.description) ?? "unset"
  }
}
