// SPDX-License-Identifier: Apache-2.0

/// How often a strategy ended as people decided.
public struct Agreement: Hashable, Sendable {
  /// Over all episodes that people left a record for.
  public var all = Share()
  /// Over those that a person settled by hand.
  public var person = Share()

  /// Creates the count of no episode.
  public init() {}

  /// Fields and records that ended as people decided, of how many.
  public struct Share: Hashable, Sendable {
    /// The changed fields that ended as people decided.
    public var equalFields = 0
    /// The fields that anyone changed.
    public var fields = 0
    /// The records whose changed fields all ended so.
    public var equalRecords = 0
    /// The records.
    public var records = 0

    /// Creates the count of nothing.
    public init() {}
  }
}

extension Agreement.Share {
  /// The share of fields that ended as people decided, from 0 to 1.
  public var ofFields: Double { Self.share(equalFields, of: fields) }

  /// The share of records that ended as people decided, from 0 to 1.
  public var ofRecords: Double { Self.share(equalRecords, of: records) }

  private static func share(_ part: Int, of whole: Int) -> Double {
    whole == 0 ? 0 : Double(part) / Double(whole)
  }
}

extension Agreement {
  /// Counts one episode, if people left a record for it.
  ///
  /// Only fields that anyone changed count, by what is visible: an absent set is
  /// an empty set, and an absent counter is at zero. A field agrees if it does on
  /// every device. Where the record exists and people deleted it, or the other
  /// way round, none of its fields agree.
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

extension Agreement.Share {
  static func += (a: inout Self, b: Self) {
    a.equalFields += b.equalFields
    a.fields += b.fields
    a.equalRecords += b.equalRecords
    a.records += b.records
  }
}
