// SPDX-License-Identifier: Apache-2.0

/// Counts of the field changes of one or many episodes.
///
/// A *field change* is what one device changed in one field before it met the
/// others. It is lost unless the final record, or its conflict list, shows all of
/// it. If the devices end with different records, it is lost if it is lost on any
/// of them. Counts are never negative. Sums are clamped to `Int.max`.
public struct Losses: Hashable, Sendable {
  /// The field changes of devices that did not delete the record.
  public var changes = 0
  /// The changes that neither the final record nor its conflict list shows.
  public var lost = 0
  /// The lost changes that an error or a report showed.
  public var reported = 0
  /// The changes of registers lost beyond those that cannot be shown: of several
  /// concurrent values, a register shows one.
  public var excess = 0
  /// The changes that only the record's conflict list shows.
  public var kept = 0
  /// The changes that wait on a blocked device.
  public var waiting = 0
  /// The sum of the errors of all counters.
  public var counterUnits = 0
  /// The insertions lost although no removal had seen them.
  public var addsLost = 0
  /// The removals undone although they had seen every insertion.
  public var removesUndone = 0
  /// The base fields with content that no device changed.
  public var baseValues = 0
  /// The base values that are not as they were.
  public var baseValuesLost = 0
  /// The records that exist and should not, or the other way round.
  public var recordsWrong = 0
  /// The episodes whose devices end with different records.
  public var disagreements = 0

  /// Creates counts of zero.
  public init() {}

  /// The lost changes that no error and no report showed.
  public var silent: Int { lost - reported }

  /// Whether the final records show, or list, all that they should.
  public var isLossless: Bool {
    lost == 0 && baseValuesLost == 0 && recordsWrong == 0
  }

  private static let counts: [WritableKeyPath<Losses, Int> & Sendable] = [
    \.changes, \.lost, \.reported, \.excess, \.kept, \.waiting,
    \.counterUnits, \.addsLost, \.removesUndone, \.baseValues,
    \.baseValuesLost, \.recordsWrong, \.disagreements,
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
