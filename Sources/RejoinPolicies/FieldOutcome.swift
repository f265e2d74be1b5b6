// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The action of a save on one field in conflict.
public enum FieldOutcome: Hashable, Sendable {
  /// Keeps the store's value.
  ///
  /// If the context wrote a value, it is dropped and reported.
  case keepStore
  /// Writes the value and supersedes every sibling.
  ///
  /// The siblings that the context had not seen are reported. The value `nil`
  /// unsets the field.
  case write(Value?)
  /// Writes the value and supersedes only the siblings that the context had
  /// seen.
  ///
  /// The others stay as conflicts.
  case writeConcurrently(Value?)
  /// Writes nothing and adds the field's three values to
  /// ``EditingContext/pendingConflicts``.
  case reportConflict
}
