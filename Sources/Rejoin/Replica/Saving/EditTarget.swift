// SPDX-License-Identifier: Apache-2.0

/// What a ``RecordEditor`` edits: a transaction or an editing context.
///
/// Reading from it shows the edits so far.
package protocol EditTarget: AnyObject {
  func touch(_ id: RecordID)
  func delete(_ id: RecordID)
  func perform(_ edit: FieldEdit, on key: FieldKey, of id: RecordID)
  /// Refuses an edit that cannot be saved, with the reason.
  func fail(_ error: SaveError)

  /// The value that a register or a counter shows: `.some(nil)` if a write has
  /// unset it, `nil` if it has never been written.
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
      .elements(over: stored(id)?.elements(of: key.name) ?? [])
  }

  package func total(of key: FieldKey, in id: RecordID) -> Int64 {
    edit(of: key, in: id).total(over: stored(id)?.total(of: key.name) ?? 0)
  }

  /// The record as the replica holds it, unless this save hides it.
  private func stored(_ id: RecordID) -> Record? {
    // A deleted record that this save restores is shown with its contents.
    guard !hides(id), let record = replica.record(id),
      record.exists || pending[id]?.mark == true
    else { return nil }
    return record
  }
}

extension FieldEdit? {
  /// The value after this edit of a counter that shows `stored`.
  package func count(over stored: Int64) -> Int64 {
    if case .count(let edit) = self { edit.applied(to: stored) } else { stored }
  }

  /// The elements after this edit of a set that shows `stored`.
  package func elements(over stored: [Value]) -> [Value] {
    if case .members(let edit) = self {
      edit.applied(to: stored)
    } else {
      stored
    }
  }

  /// The total after this edit of a ledger that shows `stored`.
  package func total(over stored: Int64) -> Int64 {
    if case .append(let edit) = self {
      edit.applied(to: stored)
    } else {
      stored
    }
  }
}
