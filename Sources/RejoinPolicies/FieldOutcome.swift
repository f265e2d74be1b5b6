// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What becomes of one field at save.
public enum FieldOutcome: Hashable, Sendable {
  /// The store's value stays; mine, where I changed it, is dropped and reported.
  case keepStore
  /// This value is written (`nil` unsets); what the store holds is superseded,
  /// and reported where the context had not shown it.
  case write(Value?)
  /// This value is written; what the context had not shown stays a sibling.
  case writeConcurrently(Value?)
  /// Nothing is written; the three values are queued for somebody to decide.
  case reportConflict
}
