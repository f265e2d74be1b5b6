// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What has become of what an edit did to a field.
enum Fate: Hashable {
  /// It is shown, or a later edit had seen it.
  case shown
  /// It is not shown, and kept with the record.
  case kept
  case lost
}

extension [Loss] {
  /// What has become of what an edit did to a field.
  func fate(of edit: Episode.Edit, on field: String) -> Fate {
    map { $0.fate(of: edit, on: field) }.max { $0.rank < $1.rank } ?? .shown
  }
}

extension Fate {
  fileprivate var rank: Int {
    switch self {
    case .shown: 0
    case .kept: 1
    case .lost: 2
    }
  }
}

extension Loss {
  fileprivate func fate(of edit: Episode.Edit, on field: String) -> Fate {
    switch self {
    case .register(
      field, let lost, _, let excess, let reported, let unrecoverable)
    where edit.clear.contains(field) || edit.set[field] != nil:
      let value = edit.set[field]
      guard lost.contains(value) else { return .shown }
      let isGone = (reported + unrecoverable).contains(value)
      return isGone || excess > 0 ? .lost : .kept
    case .counter(field, let expected, let found):
      // Where one increment explains the error, it is the one that is lost.
      let (error, overflow) = expected.subtractingReportingOverflow(found)
      return !overflow && edit.increment[field] == error ? .lost : .shown
    case .addition(field, let element):
      return edit.insert[field]?.contains(element) == true ? .lost : .shown
    case .removal(field, let element):
      return edit.remove[field]?.contains(element) == true ? .lost : .shown
    default: return .shown
    }
  }
}
