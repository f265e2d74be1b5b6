// SPDX-License-Identifier: Apache-2.0

/// Counts of calls of `sync`.
public struct CallCounts: Hashable, Sendable {
  /// The number of calls.
  public internal(set) var count = 0
  /// The number of exchanges of calls that ended by themselves.
  public internal(set) var exchanges = 0
  /// The number of parts that arrived.
  public internal(set) var parts = 0
  /// The number of calls that assumed a version.
  public internal(set) var hints = 0
  /// The number of calls whose assumed version was wrong.
  public internal(set) var wrongHints = 0
  /// The number of calls whose line broke.
  public internal(set) var cut = 0
  /// The number of calls that ended uploaded.
  public internal(set) var uploaded = 0
  /// The number of calls that ended after a storage was copied without being
  /// detected, which may end with different replicas.
  public internal(set) var withCopies = 0

  static func += (a: inout CallCounts, b: CallCounts) {
    a.count += b.count
    a.exchanges += b.exchanges
    a.parts += b.parts
    a.hints += b.hints
    a.wrongHints += b.wrongHints
    a.cut += b.cut
    a.uploaded += b.uploaded
    a.withCopies += b.withCopies
  }
}

extension CallCounts: CustomStringConvertible {
  /// The counts as part of a line.
  public var description: String {
    "\(count) (\(exchanges) exchanges, \(parts) parts, \(hints) with a hint, "
      + "\(wrongHints) wrong, \(cut) cut, \(uploaded) uploaded, \(withCopies) "
      + "met a copied device)"
  }
}
