// SPDX-License-Identifier: Apache-2.0

/// The edit of one field by one device before it synced with the others.
package struct OfflineEdit: Hashable, Sendable {
  /// The device.
  package let device: String
  /// The field.
  package let field: String
}

/// The fate of an offline edit.
package enum Fate: Int, Hashable, Sendable, Comparable {
  /// The final record shows the whole change.
  case shown
  /// The record's conflict list shows the whole change.
  case kept
  /// An error or a report showed the change, which is gone after it is read.
  case reported
  /// No record, list, error or report shows the whole change.
  case dropped
  /// A blocked device still shows the change and did not send it.
  case waiting

  /// Whether neither the final record nor its conflict list shows the change.
  package var isLoss: Bool { self == .reported || self == .dropped }

  package static func < (a: Fate, b: Fate) -> Bool { a.rawValue < b.rawValue }
}

/// The fates of the changes of one field.
struct FieldVerdict {
  /// The fates of the changes by device.
  var fates: [String: Fate] = [:]
  /// Whether the field has content that no device changed.
  var hasBase = false
  /// Whether that content changed.
  var losesBase = false
  /// The number of lost changes of a register beyond the minimum.
  ///
  /// A register can show only one of several concurrent values.
  var excess = 0
  /// The difference between a counter and the sum of its increments.
  var counterUnits = 0
  /// The number of missing insertions that no removal had seen.
  var addsLost = 0
  /// The number of undone removals that had seen every insertion.
  var removesUndone = 0
  /// The losses in words.
  var words: [String] = []
}

/// The contents of a field that are shown outside the record.
struct Remains {
  /// The contents that the record's conflict list shows.
  var kept: Set<Content?> = []
  /// The contents that an error or a report showed.
  var reported: Set<Content?> = []

  /// Collects the contents for a field in an outcome.
  ///
  /// A record that does not exist has no conflict list.
  init(_ outcome: Outcome, _ field: String, exists: Bool) {
    kept = exists ? outcome.kept[field] ?? [] : []
    reported = outcome.reported[field] ?? []
  }

  /// Returns the fate of a change that the final record does not show.
  ///
  /// - Parameter shows: A closure that returns whether a content shows the
  ///   whole change.
  func fate(_ shows: (Content?) -> Bool) -> Fate {
    kept.contains(where: shows)
      ? .kept : reported.contains(where: shows) ? .reported : .dropped
  }
}
