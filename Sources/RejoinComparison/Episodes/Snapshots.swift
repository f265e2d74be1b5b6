// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The common base of a record, and the record as each of two people left it.
///
/// Comparing the three states field by field produces an ``Episode``. Arrays of
/// different texts are sets, and all other fields are registers, unless `kinds`
/// declares another kind.
package struct Snapshots: Sendable {
  /// The ID of the episode.
  package var id: String
  /// The common base of both people, or `nil` if the record did not exist.
  package var base: PlainRecord?
  /// The record as the first person left it, or `nil` if it was deleted.
  package var mine: PlainRecord?
  /// The record as the second person left it, or `nil` if it was deleted.
  package var theirs: PlainRecord?
  /// The kinds of the fields that are sets or counters.
  package var kinds: [String: FieldKind] = [:]
  /// The resolution that people chose, or `nil` if unknown.
  package var resolution: Episode.Resolution?
  /// The times of the last saves of each person, in milliseconds.
  package var times: (mine: Int64, theirs: Int64) = (1000, 2000)

  /// Creates the three states of a record.
  package init(
    id: String, base: PlainRecord?, mine: PlainRecord?, theirs: PlainRecord?
  ) {
    (self.id, self.base) = (id, base)
    (self.mine, self.theirs) = (mine, theirs)
  }

  /// Whether both people changed the record.
  package var isConcurrent: Bool { mine != base && theirs != base }

  /// The episode, with each person's changes as one edit.
  package var episode: Episode {
    var edits: [Episode.Edit] = []
    for (device, after, time) in [
      ("mine", mine, times.mine), ("theirs", theirs, times.theirs),
    ] where after != base {
      edits.append(edit(device, to: after, at: time))
    }
    var episode = Episode(id: id, base: base, kinds: kinds, edits: edits)
    episode.resolution = resolution
    return episode
  }

  private func edit(
    _ device: String, to after: PlainRecord?, at time: Int64
  ) -> Episode.Edit {
    var edit = Episode.Edit(device, at: max(time, 0))
    guard let after else {
      edit.isDeletion = true
      return edit
    }
    let before = base ?? [:]
    for field in Set(before.keys).union(after.keys)
    where before[field] != after[field] {
      switch after[field] {
      case nil: edit.clear.append(field)
      case .value(let value): edit.set[field] = value
      case .count(let count):
        let (change, overflow) = count.subtractingReportingOverflow(
          before.count(field))
        if overflow {
          edit.set[field] = .int(count)
        } else {
          edit.increment[field] = change
        }
      case .elements(let elements):
        let old = before.elements(field)
        edit.insert[field] = elements.subtracting(old).sorted()
        let removed = old.subtracting(elements).sorted()
        if !removed.isEmpty { edit.remove[field] = removed }
      }
    }
    return edit
  }
}

extension Snapshots {
  /// Reads fields of data that was not written for a comparison.
  ///
  /// A nested value counts as one value, as does an array that is not a set.
  package init(
    id: String, base: JSONValue.Row?, mine: JSONValue.Row?,
    theirs: JSONValue.Row?, resolution: JSONValue.Row?? = nil,
    kinds: [String: FieldKind] = [:]
  ) {
    let rows = [base, mine, theirs, resolution ?? nil].compactMap(\.self)
    var all = kinds
    for name in Set(rows.flatMap(\.keys)) where kinds[name] == nil {
      let values = rows.compactMap { $0[name] }
      if values.allSatisfy(\.isSet) { all[name] = .set }
    }
    func record(_ row: JSONValue.Row?) -> PlainRecord? {
      guard let row else { return nil }
      var record: PlainRecord = [:]
      for (name, value) in row { record[name] = value.content(all[name]) }
      return record
    }
    self.init(
      id: id, base: record(base), mine: record(mine), theirs: record(theirs))
    self.kinds = all.filter { $0.value != .register }
    if let resolution {
      self.resolution = record(resolution).map { .record($0) } ?? .deleted
    }
  }
}

extension JSONValue {
  /// The fields of a record.
  package typealias Row = [String: JSONValue]

  /// Whether this is an array of different texts.
  fileprivate var isSet: Bool {
    guard case .array(let items) = self else { return false }
    return Set(items).count == items.count
      && items.allSatisfy {
        if case .scalar(.string) = $0 { true } else { false }
      }
  }

  fileprivate func content(_ kind: FieldKind?) -> Content {
    switch (kind, self) {
    case (.set, .array(let items)):
      .elements(
        Set(
          items.map { item in
            if case .scalar(let value) = item {
              value
            } else {
              .string(item.description)
            }
          }))
    case (.counter, .scalar(.int(let count))): .count(count)
    case (_, .scalar(let value)): .value(value)
    default: .value(.string(description))
    }
  }
}
