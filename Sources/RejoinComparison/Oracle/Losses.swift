// SPDX-License-Identifier: Apache-2.0

/// The number of losses of each kind, over one or many episodes.
///
/// Counts are never negative. Sums are clamped to `Int.max`.
public struct Losses: Hashable, Sendable {
  /// Register edits lost beyond the unavoidable: of several concurrent values,
  /// only one can be shown.
  public var excess = 0
  /// Register edits lost that no conflict list, report or history holds.
  public var unrecoverable = 0
  /// The sum of the errors of all counters.
  public var counterUnits = 0
  /// Insertions lost although no removal had seen them.
  public var addsLost = 0
  /// Removals undone although they had seen every insertion.
  public var removesUndone = 0
  /// Records that exist and should not, or the other way round.
  public var recordsWrong = 0
  /// Episodes whose devices end with different records.
  public var neverAgree = 0

  /// Creates counts of zero.
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

  /// The maximum of each count.
  func worst(_ other: Losses) -> Losses {
    Self.counts.reduce(into: self) { worst, count in
      worst[keyPath: count] = max(worst[keyPath: count], other[keyPath: count])
    }
  }
}
