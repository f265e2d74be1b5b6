// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What a save does with one field in conflict.
public enum FieldOutcome: Hashable, Sendable {
  /// Keeps the store's value. A value that the context wrote is dropped and
  /// reported.
  case keepStore
  /// Writes the value, where `nil` unsets the field. It supersedes every
  /// sibling; those that the context had not shown are reported.
  case write(Value?)
  /// Writes the value, superseding only the siblings that the context had
  /// shown. The others stay as conflicts.
  case writeConcurrently(Value?)
  /// Writes nothing and adds the field's three values to
  /// ``EditingContext/pendingConflicts``.
  case reportConflict
}
