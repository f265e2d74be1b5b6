// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Some devices start from the same record, edit it without hearing of each
/// other, and then everybody syncs.
public struct Episode: Sendable {
  /// The name of the episode.
  public var id: String
  /// The record when the devices parted; `nil` if it did not exist.
  public var base: PlainRecord?
  /// The fields that are sets or counters.
  ///
  /// Every other field is a register.
  public var kinds: [String: FieldKind]
  /// The edits, in each device's own order.
  public var edits: [Edit]
  /// The devices in the order in which their edits reach a server, where that
  /// is not the order of their last edits' times.
  public var arrival: [String]?
  /// The fields that a device's query fetched, where it did not fetch all.
  public var fetched: [String: Set<String>] = [:]
  /// The record as people left it, where they did.
  public var resolution: Resolution?
  /// Who settled the record.
  public var resolvedBy: Resolver?
  /// The collection that the episode belongs to.
  public var group: String?
  /// Where the episode comes from.
  public var source: String?

  /// Creates an episode.
  public init(
    id: String, base: PlainRecord?, kinds: [String: FieldKind] = [:],
    edits: [Edit], arrival: [String]? = nil
  ) {
    self.id = id
    self.base = base
    self.kinds = kinds
    self.edits = edits
    self.arrival = arrival
  }

  /// How people left a record.
  public enum Resolution: Hashable, Sendable {
    /// They deleted it.
    case deleted
    /// They left it like this.
    case record(PlainRecord)
  }

  /// Who settled a record.
  public enum Resolver: String, Hashable, Sendable, CaseIterable {
    /// Somebody settled it by hand.
    case person
    /// A merge of lines was accepted.
    case textMerge
    /// One side's file was taken whole.
    case wholeFile
  }
}

extension Episode {
  /// The devices in the order in which their edits reach a server.
  public var devices: [String] {
    if let arrival { return arrival }
    var last: [String: Int64] = [:]
    var order: [String] = []
    for edit in edits {
      if last.updateValue(edit.at, forKey: edit.device) == nil {
        order.append(edit.device)
      }
    }
    let places = order.enumerated().map { (last[$1] ?? 0, $0) }
    return places.sorted(by: <).map { order[$0.1] }
  }

  /// The kind of a field.
  func kind(of field: String) -> FieldKind { kinds[field] ?? .register }

  /// The fields that anyone changed.
  public var changedFields: Set<String> {
    edits.reduce(into: []) { $0.formUnion($1.fields) }
  }

  /// The fields of the base that a device's query left out.
  func unfetched(by device: String) -> PlainRecord {
    guard let fields = fetched[device] else { return [:] }
    return (base ?? [:]).filter { !fields.contains($0.key) }
  }

  /// The record as a device fetched it.
  func copy(of device: String) -> PlainRecord? {
    guard let fields = fetched[device] else { return base }
    return base?.filter { fields.contains($0.key) }
  }
}
