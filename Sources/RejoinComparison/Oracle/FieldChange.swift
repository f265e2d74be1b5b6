// SPDX-License-Identifier: Apache-2.0

/// The change that one device made in one field before it met the others.
package struct FieldChange: Hashable, Sendable {
  /// The device.
  package let device: String
  /// The field.
  package let field: String
}

/// The fate of a field change.
package enum Fate: Int, Hashable, Sendable, Comparable {
  /// The final record shows all of it.
  case shown
  /// The record's conflict list shows all of it.
  case kept
  /// An error or a report showed it, which is gone after it is read.
  case reported
  /// Nothing shows all of it.
  case dropped
  /// A blocked device still shows it, and has not sent it.
  case waiting

  /// Whether neither the final record nor its conflict list shows the change.
  package var isLoss: Bool { self == .reported || self == .dropped }

  package static func < (a: Fate, b: Fate) -> Bool { a.rawValue < b.rawValue }
}

/// The fates of the changes of one field.
struct FieldVerdict {
  /// The fates of the changes by device.
  var fates: [String: Fate] = [:]
  /// Whether the field holds content that no device changed.
  var hasBase = false
  /// Whether that content is not as it was.
  var losesBase = false
  /// The changes of a register lost beyond those that it cannot show: of several
  /// concurrent values, it shows one.
  var excess = 0
  /// The difference between a counter and the sum of its increments.
  var counterUnits = 0
  /// Insertions missing although no removal had seen them.
  var addsLost = 0
  /// Removals undone although they had seen every insertion.
  var removesUndone = 0
  /// The losses in words.
  var words: [String] = []
}

/// The contents of a field that something other than the record shows.
struct Remains {
  /// The contents that the record's conflict list shows.
  var kept: Set<Content?> = []
  /// The contents that an error or a report showed.
  var reported: Set<Content?> = []

  /// The contents for a field in an outcome.
  ///
  /// A record that does not exist shows no conflict list.
  init(_ outcome: Outcome, _ field: String, exists: Bool) {
    kept = exists ? outcome.kept[field] ?? [] : []
    reported = outcome.reported[field] ?? []
  }

  /// The fate of a change that the final record does not show.
  ///
  /// - Parameter shows: Returns whether a content shows all of the change.
  func fate(_ shows: (Content?) -> Bool) -> Fate {
    kept.contains(where: shows)
      ? .kept : reported.contains(where: shows) ? .reported : .dropped
  }
}
