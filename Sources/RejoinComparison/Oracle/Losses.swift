// SPDX-License-Identifier: Apache-2.0

/// What one or many episodes lost, in numbers.
public struct Losses: Hashable, Sendable {
  /// Register edits lost beyond those that could not be avoided.
  public var excess = 0
  /// Register edits lost that no conflict list or report holds.
  public var unrecoverable = 0
  /// Units by which counters are wrong.
  public var counterUnits = 0
  /// Insertions lost that no removal had seen.
  public var addsLost = 0
  /// Removals undone although they had seen every insertion.
  public var removesUndone = 0
  /// Records that exist and should not, or the other way round.
  public var recordsWrong = 0
  /// Episodes whose devices never agree.
  public var neverAgree = 0

  /// Creates the count of nothing lost.
  public init() {}

  /// Whether nothing of any kind was lost.
  public var isZero: Bool { self == Losses() }

  private static let counts: [WritableKeyPath<Losses, Int> & Sendable] = [
    \.excess, \.unrecoverable, \.counterUnits, \.addsLost, \.removesUndone,
    \.recordsWrong, \.neverAgree,
  ]

  static func += (a: inout Losses, b: Losses) {
    for count in counts {
      let (sum, overflow) = a[keyPath: count]
        .addingReportingOverflow(b[keyPath: count])
      a[keyPath: count] = overflow ? .max : sum
    }
  }

  /// The greater of each count.
  func worst(_ other: Losses) -> Losses {
    Self.counts.reduce(into: self) { worst, count in
      worst[keyPath: count] = max(worst[keyPath: count], other[keyPath: count])
    }
  }
}
