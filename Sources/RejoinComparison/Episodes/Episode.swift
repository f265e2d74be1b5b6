// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A record that several devices edit offline, starting from the same state,
/// before all of them sync.
public struct Episode: Sendable {
  /// The ID of the episode, unique in its file.
  public var id: String
  /// The record before the devices went offline, or `nil` if it did not exist.
  public var base: PlainRecord?
  /// The kinds of the fields that are sets or counters.
  ///
  /// Every other field is a register.
  public var kinds: [String: FieldKind]
  /// The edits, where those of one device are in order.
  public var edits: [Edit]
  /// The devices in the order of arrival at a server, or `nil` for the order of
  /// their last edits.
  ///
  /// A device that is listed again sends its edits a second time.
  public var arrival: [String]?
  /// The edits that led to the base, one after another.
  ///
  /// Every device receives them before it goes offline. They start
  /// without a record, and end with ``base``. The value is empty if the devices
  /// do not remember how the base came about.
  public var earlier: [Edit] = []
  /// The fields that a device's query fetched, by device.
  ///
  /// A device that is missing here fetched all fields.
  public var fetched: [String: Set<String>] = [:]
  /// The resolution that people chose, or `nil` if unknown.
  public var resolution: Resolution?
  /// The author of the resolution, or `nil` if unknown.
  public var resolvedBy: Resolver?
  /// The group of the episode, or `nil` if it does not belong to one.
  public var group: String?
  /// A description of the origin of the episode.
  public var source: String?

  /// Creates an episode.
  ///
  /// - Parameters:
  ///   - id: The ID of the episode.
  ///   - base: The record before the devices went offline, or `nil` if it did
  ///     not exist.
  ///   - kinds: The kinds of the fields that are sets or counters.
  ///   - edits: The edits, where those of one device are in order.
  ///   - arrival: The devices in the order of arrival at a server, or `nil` for
  ///     the order of their last edits.
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

  /// The result of a resolution of conflicts by people.
  public enum Resolution: Hashable, Sendable {
    /// They deleted the record.
    case deleted
    /// They chose this record.
    case record(PlainRecord)
  }

  /// The author of a resolution.
  public enum Resolver: String, Hashable, Sendable, CaseIterable {
    /// A person edited the result by hand.
    case person
    /// A line-based merge succeeded, and people accepted it.
    case textMerge
    /// People chose one side's file as a whole.
    case wholeFile
  }
}

extension Episode {
  /// The devices in the order of their first arrival at a server.
  public var devices: [String] {
    if let arrival {
      var seen: Set<String> = []
      return arrival.filter { seen.insert($0).inserted }
    }
    var last: [String: Int64] = [:]
    var order: [String] = []
    for edit in earlier + edits {
      if last.updateValue(edit.at, forKey: edit.device) == nil {
        order.append(edit.device)
      }
    }
    let indices = order.enumerated().map { (last[$1] ?? 0, $0) }
    return indices.sorted(by: <).map { order[$0.1] }
  }

  /// The devices that send their edits again, once for each time.
  var repeatedArrivals: [String] {
    var seen: Set<String> = []
    return (arrival ?? []).filter { !seen.insert($0).inserted }
  }

  /// Returns the kind of a field.
  func kind(of field: String) -> FieldKind { kinds[field] ?? .register }

  /// The fields that any device changed.
  public var changedFields: Set<String> {
    edits.reduce(into: []) { $0.formUnion($1.fields) }
  }

  /// The fields that the record has, or had before it was deleted.
  package var fields: Set<String> {
    earlier.reduce(into: Set((base ?? [:]).keys).union(changedFields)) {
      $0.formUnion($1.fields)
    }
  }

  /// Returns the fields of the base that a device's query left out.
  func unfetched(by device: String) -> PlainRecord {
    guard let fields = fetched[device] else { return [:] }
    return (base ?? [:]).filter { !fields.contains($0.key) }
  }

  /// Returns the record as a device fetched it.
  func copy(of device: String) -> PlainRecord? {
    guard let fields = fetched[device] else { return base }
    return base?.filter { fields.contains($0.key) }
  }
}
