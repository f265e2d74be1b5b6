// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The elements that a set must or may contain in the end.
struct SetFacts {
  let field: String
  /// The change of each device that did not delete the record.
  private(set) var changes: [Change] = []
  /// The elements of the base that no device removed.
  private var untouched: Set<Value>
  /// The elements that must be present.
  private var due: Set<Value> = []
  /// The elements that may be present, because their device then deleted the
  /// record.
  private var withdrawn: Set<Value> = []
  private var removed: Set<Value> = []

  /// The net change of one device.
  struct Change {
    let device: String
    var inserted: Set<Value> = []
    var removed: Set<Value> = []
  }

  init(_ field: String, base: Content?, _ histories: [History]) {
    self.field = field
    let start = base.map { [field: $0].elements(field) } ?? []
    for history in histories {
      var change = Change(device: history.device)
      var isChange = false
      for verb in history.verbs(on: field) {
        switch verb {
        case .insert(let elements):
          change.inserted.formUnion(elements)
        case .remove(let elements):
          change.inserted.subtract(elements)
          change.removed.formUnion(elements)
        case .forget, .clear:
          change.inserted = []
          change.removed.formUnion(start)
        case .set, .add: break
        }
        if case .forget = verb { isChange = false } else { isChange = true }
      }
      removed.formUnion(change.removed)
      if history.isDeleted {
        withdrawn.formUnion(change.inserted)
      } else {
        due.formUnion(change.inserted)
        if isChange { changes.append(change) }
      }
    }
    untouched = start.subtracting(removed)
    due.formUnion(untouched)
  }

  /// Judges the set in a final record.
  ///
  /// - Parameter state: The final record, or `nil` if it does not exist
  ///   although it should.
  func verdict(_ state: PlainRecord?, _ remains: Remains) -> FieldVerdict {
    var verdict = FieldVerdict()
    let found = state?.elements(field) ?? []
    let missing = due.subtracting(found)
    let undone = found.subtracting(due).subtracting(withdrawn)
    verdict.hasBase = !untouched.isEmpty
    verdict.losesBase =
      !untouched.isSubset(of: found) || !undone.isSubset(of: removed)
    verdict.addsLost = missing.subtracting(untouched).count
    verdict.removesUndone = undone.intersection(removed).count
    for change in changes {
      let isShown =
        state != nil && change.inserted.isDisjoint(with: missing)
        && change.removed.isDisjoint(with: undone)
      verdict.fates[change.device] =
        isShown ? .shown : remains.fate { $0.map(change.isShown) ?? false }
    }
    verdict.words =
      missing.sorted().map {
        "\(field) lacks \($0), which no removal had seen"
      }
      + undone.sorted().map {
        "\(field) has \($0) again, though it was removed"
      }
    return verdict
  }
}

extension SetFacts.Change {
  /// Returns whether a set shows the whole change.
  fileprivate func isShown(by content: Content) -> Bool {
    let elements = [device: content].elements(device)
    return inserted.isSubset(of: elements)
      && removed.subtracting(inserted)
        .isDisjoint(with: elements)
  }
}
