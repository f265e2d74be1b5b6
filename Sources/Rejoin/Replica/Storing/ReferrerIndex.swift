// SPDX-License-Identifier: Apache-2.0

/// The records that refer to a record, for the observers of a store.
///
/// When a record appears or disappears, the references to it start or stop to
/// be shown, and the records with these references read differently.
package struct ReferrerIndex: Sendable {
  /// The observed records, or `nil` if all records are observed.
  package private(set) var observed: Set<RecordID>?
  /// The positions of the records that refer to a record, by its ID.
  private var referrers: [RecordID: Set<UInt32>] = [:]

  /// Whether all records are observed.
  package var isOfAll: Bool { observed == nil }

  /// Creates the index of all records.
  ///
  /// - Complexity: O(*n*), where *n* is the number of fields of records with
  ///   references.
  package init(ofAll replica: Replica) {
    for (position, record) in replica.current.records.enumerated() {
      update(UInt32(position), from: nil, to: record)
    }
  }

  /// Creates an index without records.
  package init() { observed = [] }

  /// Adds records that are observed.
  package mutating func observe(
    _ records: Set<RecordID>, in replica: Replica
  ) {
    for id in records where observed?.insert(id).inserted == true {
      guard let position = replica.current.positions[id] else { continue }
      update(
        UInt32(position), from: nil, to: replica.current.records[position])
    }
  }

  /// Replaces the references of a record.
  ///
  /// - Complexity: O(*f* + *r*), where *f* is the number of fields, and *r* that
  ///   of references in changed fields, or in all fields if one is removed.
  fileprivate mutating func update(
    _ position: UInt32, from old: RecordState?, to new: RecordState
  ) {
    if observed?.contains(new.id) == false { return }
    let (before, after) = new.changedReferences(since: old)
    for id in after { referrers[id, default: []].insert(position) }
    if before.isEmpty { return }
    let remaining = Set(new.slots.flatMap(\.references))
    for id in before where !remaining.contains(id) {
      referrers[id]?.remove(position)
      if referrers[id]?.isEmpty == true { referrers[id] = nil }
    }
  }

  fileprivate func referrers(to id: RecordID) -> Set<UInt32> {
    referrers[id] ?? []
  }
}

extension RecordState {
  /// Returns the references that a field lost since an earlier state, and those
  /// that a field gained.
  fileprivate func changedReferences(
    since old: RecordState?
  ) -> (lost: [RecordID], gained: [RecordID]) {
    let dropped = old?.slots.filter { !has($0.name) } ?? []
    var (lost, gained) = (dropped.flatMap(\.references), [RecordID]())
    for slot in slots where mayContainReferences {
      let former = old?.slot(slot.name)
      // The states are equal at once if they share their storage.
      if let former, former.state == slot.state { continue }
      let (before, after) = (former?.references ?? [], slot.references)
      let difference = after.difference(from: before)
      lost += difference.lost
      gained += difference.gained
    }
    return (lost, gained)
  }
}

extension FieldSlot {
  /// The references that the field may show, in the order of the field.
  fileprivate var references: [RecordID] {
    guard mayContainReferences else { return [] }
    var references: [RecordID] = []
    state.forEachReference { references.append($0) }
    return references
  }
}

extension [RecordID] {
  /// Compares the list with an earlier one.
  ///
  /// Only what is between the common beginning and the common end is searched,
  /// because a set is sorted and a save changes a few elements.
  fileprivate func difference(
    from old: [RecordID]
  ) -> (lost: Set<RecordID>, gained: Set<RecordID>) {
    let start = zip(self, old).prefix { $0 == $1 }.count
    let (new, old) = (self[start...], old[start...])
    let end = zip(new.reversed(), old.reversed()).prefix { $0 == $1 }.count
    let (after, before) = (Set(new.dropLast(end)), Set(old.dropLast(end)))
    return (before.subtracting(after), after.subtracting(before))
  }
}

extension Replica {
  /// A record before and after a change, or `nil` before its first save.
  package typealias Difference = (old: Record?, new: Record?)

  /// Starts to record which records change.
  ///
  /// - Parameter index: The index of the observed records, whose former states
  ///   are kept, or `nil` to keep those of all records.
  package func keepFormerRecords(of index: ReferrerIndex? = nil) {
    current.formerRecords = FormerRecords(observed: index?.observed)
  }

  /// Returns the records that changed since ``keepFormerRecords(of:)``, and the
  /// other ones whose references to these started or stopped to be shown.
  ///
  /// Each state shows the references to records that existed with it.
  ///
  /// - Complexity: O(*k* + *r*), where *k* is the size of the changed records,
  ///   and *r* that of records that refer to one which appeared or disappeared.
  package func takeDifferences(
    _ index: inout ReferrerIndex?
  ) -> (changed: [RecordID: Difference], referring: [RecordID: Difference]) {
    let former = current.formerRecords?.records ?? [:]
    current.formerRecords = nil
    /// Whether each record that appeared or disappeared existed before.
    var existed: [RecordID: Bool] = [:]
    for (position, old) in former {
      let new = current.records[Int(position)]
      let rule = schema.deletion(of: new.id.entity)
      if old.existence.holds(rule) != new.exists(rule) {
        existed[new.id] = old.existence.holds(rule)
      }
      index?.update(position, from: old.state, to: new)
    }
    var changed: [RecordID: Difference] = [:]
    for (position, old) in former {
      let new = current.records[Int(position)]
      if BuiltIn.isBuiltIn(new.id.entity) { continue }
      let touched = old.state.flatMap { $0.slots.isEmpty ? nil : $0 }
      changed[new.id] = (touched.map { record($0, existed) }, record(new))
    }
    var referring: [RecordID: Difference] = [:]
    for id in existed.keys {
      for position in index?.referrers(to: id) ?? []
      where former[position] == nil {
        let state = current.records[Int(position)]
        guard referring[state.id] == nil, exists(state.id),
          !BuiltIn.isBuiltIn(state.id.entity)
        else { continue }
        referring[state.id] = (record(state, existed), record(state))
      }
    }
    return (changed, referring)
  }
}

/// The records that changed since an observer last asked.
struct FormerRecords: Sendable {
  /// The observed records, whose former states are kept, or `nil` for all.
  let observed: Set<RecordID>?
  /// The existence and the state of the former records by position, without
  /// states that are not kept.
  private(set) var records:
    [UInt32: (existence: Existence, state: RecordState?)] = [:]

  init(observed: Set<RecordID>?) { self.observed = observed }

  /// Records that a record is about to change.
  mutating func record(_ position: UInt32, of all: [RecordState]) {
    if records[position] != nil { return }
    let record = all[Int(position)]
    let isKept = observed?.contains(record.id) ?? true
    records[position] = (record.existence, isKept ? record : nil)
  }
}
