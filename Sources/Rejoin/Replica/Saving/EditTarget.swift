// SPDX-License-Identifier: Apache-2.0

/// Where the verbs of a ``RecordEditor`` go: a save, or an editing context.
///
/// What it shows includes the edits so far.
package protocol EditTarget: AnyObject {
  func touch(_ id: RecordID)
  func delete(_ id: RecordID)
  func perform(_ edit: FieldEdit, on key: FieldKey, of id: RecordID)
  /// Remembers why what was asked for cannot be saved.
  func fail(_ error: SaveError)

  /// What a register or a counter shows: nothing where nobody has written it,
  /// `nil` where a write has unset it.
  func shown(_ key: FieldKey, in id: RecordID) -> Value??
  func count(of key: FieldKey, in id: RecordID) -> Int64
  func elements(of key: FieldKey, in id: RecordID) -> [Value]
  func total(of key: FieldKey, in id: RecordID) -> Int64
}

extension Transaction: EditTarget {
  package func perform(
    _ edit: FieldEdit, on key: FieldKey, of id: RecordID
  ) {
    apply(edit, to: key, of: id)
  }

  package func shown(_ key: FieldKey, in id: RecordID) -> Value?? {
    if case .write(let value) = edit(of: key, in: id) { return .some(value) }
    return stored(id)?.shown(key) ?? nil
  }

  package func count(of key: FieldKey, in id: RecordID) -> Int64 {
    edit(of: key, in: id).count(over: stored(id)?.count(of: key.name) ?? 0)
  }

  package func elements(of key: FieldKey, in id: RecordID) -> [Value] {
    edit(of: key, in: id)
      .elements(over: stored(id)?.elements(of: key.name, key.kind) ?? [])
  }

  package func total(of key: FieldKey, in id: RecordID) -> Int64 {
    edit(of: key, in: id).total(over: stored(id)?.total(of: key.name) ?? 0)
  }

  /// The record as the replica holds it, unless this save creates it again.
  private func stored(_ id: RecordID) -> Record? {
    guard !hides(id), let record = replica.record(id),
      record.exists || pending[id]?.mark == true
    else { return nil }
    return record
  }
}

extension FieldEdit? {
  /// The value of a counter that shows `stored` before the edit.
  package func count(over stored: Int64) -> Int64 {
    if case .count(let edit) = self { edit.applied(to: stored) } else { stored }
  }

  /// The elements of a set that shows `stored` before the edit.
  package func elements(over stored: [Value]) -> [Value] {
    if case .members(let edit) = self {
      edit.applied(to: stored)
    } else {
      stored
    }
  }

  /// The total of a ledger that shows `stored` before the edit.
  package func total(over stored: Int64) -> Int64 {
    if case .append(let edit) = self {
      edit.applied(to: stored)
    } else {
      stored
    }
  }
}
