// SPDX-License-Identifier: Apache-2.0

/// Counts of the field changes of one or more episodes.
///
/// A *field change* is the change of one field by one device before it synced
/// with the others. It is lost unless the final record or its conflict list
/// shows the whole change. If the devices end with different records, a change
/// is lost if it is lost on any device. Counts are never negative. Sums are
/// clamped to `Int.max`.
public struct Losses: Hashable, Sendable {
  /// The field changes of devices that did not delete the record.
  public var changes = 0
  /// The changes that neither the final record nor its conflict list shows.
  public var lost = 0
  /// The lost changes that an error or a report showed.
  public var reported = 0
  /// The lost changes of registers beyond the minimum.
  ///
  /// A register can show only one of several concurrent values.
  public var excess = 0
  /// The changes that only the record's conflict list shows.
  public var kept = 0
  /// The changes that wait on a blocked device.
  public var waiting = 0
  /// The sum of the errors of all counters.
  public var counterUnits = 0
  /// The missing insertions that no removal had seen.
  public var addsLost = 0
  /// The undone removals that had seen every insertion.
  public var removesUndone = 0
  /// The base fields with content that no device changed.
  public var baseValues = 0
  /// The base values that changed.
  public var baseValuesLost = 0
  /// The fields with content that neither the base nor an edit has.
  public var invented = 0
  /// The records that exist but should not, or the reverse.
  public var recordsWrong = 0
  /// The episodes whose devices end with different records.
  public var disagreements = 0

  /// Creates counts of zero.
  public init() {}

  /// The lost changes that neither an error nor a report showed.
  public var silent: Int { lost - reported }

  /// Whether the final records show or list everything that they should.
  public var isLossless: Bool {
    lost == 0 && baseValuesLost == 0 && invented == 0 && recordsWrong == 0
  }

  private static let counts: [WritableKeyPath<Losses, Int> & Sendable] = [
    \.changes, \.lost, \.reported, \.excess, \.kept, \.waiting,
    \.counterUnits, \.addsLost, \.removesUndone, \.baseValues,
    \.baseValuesLost, \.invented, \.recordsWrong, \.disagreements,
  ]

  static func += (a: inout Losses, b: Losses) {
    for count in counts {
      let (sum, overflow) = a[keyPath: count]
        .addingReportingOverflow(b[keyPath: count])
      a[keyPath: count] = overflow ? .max : sum
    }
  }

  /// Returns the maximum of each count.
  func worst(_ other: Losses) -> Losses {
    Self.counts.reduce(into: self) { worst, count in
      worst[keyPath: count] = max(worst[keyPath: count], other[keyPath: count])
    }
  }
}
