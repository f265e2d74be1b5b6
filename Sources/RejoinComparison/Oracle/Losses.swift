// SPDX-License-Identifier: Apache-2.0

/// The number of losses of each kind, over one or many episodes.
///
/// Counts are never negative. Sums are clamped to `Int.max`.
public struct Losses: Hashable, Sendable {
  /// Register edits lost beyond the unavoidable: of several concurrent values,
  /// only one can be shown.
  public var excess = 0
  /// Register edits lost that only a report or an error has told.
  public var reported = 0
  /// Register edits lost that no conflict list, report or history holds.
  public var unrecoverable = 0
  /// The sum of the errors of all counters.
  public var counterUnits = 0
  /// Counters that are not the sum of their increments.
  public var counters = 0
  /// Insertions lost although no removal had seen them.
  public var addsLost = 0
  /// Removals undone although they had seen every insertion.
  public var removesUndone = 0
  /// Records that exist and should not, or the other way round.
  public var recordsWrong = 0
  /// Episodes whose devices end with different records.
  public var neverAgree = 0
  /// The edits that neither the record nor its conflict list shows; a record that
  /// is wrong without one counts as one.
  ///
  /// Of the increments of a counter, one is counted.
  public var lost = 0
  /// Those of ``lost`` of which nobody is told.
  ///
  /// A device that cannot sync knows that its edits have not arrived.
  public var silent = 0

  /// Creates counts of zero.
  public init() {}

  /// Whether nothing of any kind was lost.
  public var isZero: Bool { self == Losses() }

  private static let counts: [WritableKeyPath<Losses, Int> & Sendable] = [
    \.excess, \.reported, \.unrecoverable, \.counterUnits, \.counters,
    \.addsLost,
    \.removesUndone,
    \.recordsWrong, \.neverAgree, \.lost, \.silent,
  ]

  /// Sums up what is lost in one episode.
  mutating func sumUp() {
    let edits =
      reported + unrecoverable + counters + addsLost + removesUndone
    lost = edits > 0 ? edits : recordsWrong
    silent = neverAgree > 0 ? unrecoverable : lost - reported
  }

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
