// SPDX-License-Identifier: Apache-2.0

/// The agreement of a strategy's results with the resolutions that people
/// chose.
package struct Agreement: Hashable, Sendable {
  /// The agreement over all episodes with a resolution.
  package var all = Share()
  /// The agreement over the episodes that a person resolved by hand.
  package var person = Share()

  /// Creates counts of zero.
  package init() {}

  /// The numbers of fields and records, and of those equal to the resolution.
  package struct Share: Hashable, Sendable {
    /// The changed fields that are equal to the resolution.
    package var equalFields = 0
    /// The fields that any device changed.
    package var fields = 0
    /// The records whose changed fields are all equal to the resolution.
    package var equalRecords = 0
    /// The records.
    package var records = 0

    /// Creates counts of zero.
    package init() {}
  }
}

extension Agreement {
  /// Counts one episode if it has a resolution.
  ///
  /// Only changed fields count. An absent set equals an empty one, and an
  /// absent counter equals zero. A field must be equal on every device. If the
  /// record exists although people deleted it, or the reverse, no field is
  /// equal.
  mutating func count(_ outcome: Outcome, of episode: Episode) {
    guard let resolution = episode.resolution else { return }
    let wanted: PlainRecord? =
      switch resolution {
      case .deleted: nil
      case .record(let record): record
      }
    let states =
      outcome.agrees
      ? Array(outcome.states.prefix(1))
      : outcome.states
    let exists = states.allSatisfy { ($0 == nil) == (wanted == nil) }
    let fields = episode.changedFields
    let equal = fields.filter { field in
      exists
        && states.allSatisfy {
          $0?[field]?.visible == wanted?[field]?.visible
        }
    }
    var share = Share()
    (share.equalFields, share.fields) = (equal.count, fields.count)
    share.equalRecords = exists && equal.count == fields.count ? 1 : 0
    share.records = 1
    all += share
    if episode.resolvedBy == .person { person += share }
  }
}

extension Agreement {
  static func += (a: inout Self, b: Self) {
    a.all += b.all
    a.person += b.person
  }
}

extension Agreement.Share {
  fileprivate static func += (a: inout Self, b: Self) {
    a.equalFields += b.equalFields
    a.fields += b.fields
    a.equalRecords += b.equalRecords
    a.records += b.records
  }
}
