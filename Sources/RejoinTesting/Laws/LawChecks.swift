// SPDX-License-Identifier: Apache-2.0

/// How much a checker has tried without finding a law broken.
public struct LawChecks: Hashable, Sendable {
  /// The scripts that were played; none where samples were given.
  public internal(set) var scripts = 0

  /// The cases: one law, or the laws of one change, on one choice of values.
  public internal(set) var cases = 0

  /// Adds what another check has tried.
  public static func += (a: inout LawChecks, b: LawChecks) {
    a.scripts += b.scripts
    a.cases += b.cases
  }

  /// Creates the count of cases on samples.
  init(_ cases: LatticeCases) { self.cases = cases.count }

  /// Creates the count of nothing, to which checks are added.
  public init() {}
}
