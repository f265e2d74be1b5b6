// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// One record edited concurrently: several devices start from the same record,
/// edit it offline, and then all sync.
public struct Episode: Sendable {
  /// The ID of the episode, unique in its file.
  public var id: String
  /// The record before the devices went offline; `nil` if it did not exist.
  public var base: PlainRecord?
  /// The kinds of the fields that are sets or counters.
  ///
  /// Every other field is a register.
  public var kinds: [String: FieldKind]
  /// The edits; those of one device are in the order in which it made them.
  public var edits: [Edit]
  /// The devices in the order in which their edits reach a server; `nil` for
  /// the order of the times of their last edits.
  public var arrival: [String]?
  /// The fields that a device's query fetched, by device.
  ///
  /// A device that is missing here fetched all fields.
  public var fetched: [String: Set<String>] = [:]
  /// How people resolved the conflicts; `nil` if unknown.
  public var resolution: Resolution?
  /// Who resolved them; `nil` if unknown.
  public var resolvedBy: Resolver?
  /// The name of a group of episodes that this one belongs to.
  public var group: String?
  /// Where the episode comes from, in words.
  public var source: String?

  /// Creates an episode.
  ///
  /// - Parameters:
  ///   - id: The ID of the episode.
  ///   - base: The record before the devices went offline; `nil` if it did not
  ///     exist.
  ///   - kinds: The kinds of the fields that are sets or counters.
  ///   - edits: The edits, those of one device in order.
  ///   - arrival: The devices in the order in which their edits reach a server.
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

  /// How people resolved the conflicts in a record.
  public enum Resolution: Hashable, Sendable {
    /// They deleted the record.
    case deleted
    /// They chose this record.
    case record(PlainRecord)
  }

  /// Who resolved the conflicts in a record.
  public enum Resolver: String, Hashable, Sendable, CaseIterable {
    /// A person edited the result by hand.
    case person
    /// A line-based merge was accepted.
    case textMerge
    /// One side's file was taken as a whole.
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

  /// The fields that any device changed.
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
