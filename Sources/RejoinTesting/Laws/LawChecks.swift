// SPDX-License-Identifier: Apache-2.0

/// The numbers of scripts and cases that were checked without a failure.
public struct LawChecks: Hashable, Sendable {
  /// The number of scripts, or zero if you check samples.
  public internal(set) var scripts = 0

  /// The number of cases.
  ///
  /// A case is one law, or the laws of one change, for one choice of values.
  public internal(set) var cases = 0

  /// Adds the counts of another check.
  public static func += (a: inout LawChecks, b: LawChecks) {
    a.scripts += b.scripts
    a.cases += b.cases
  }

  /// Creates the counts of a check of samples.
  init(_ cases: LatticeCases) { self.cases = cases.count }

  /// Creates counts of zero.
  public init() {}
}
