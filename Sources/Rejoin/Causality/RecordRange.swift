// SPDX-License-Identifier: Apache-2.0

/// The records that a delta speaks for: those after `after`, or all from the
/// first, and up to `through`, or all to the last.
package struct RecordRange: Hashable, Sendable {
  package let after: RecordID?
  package let through: RecordID?

  package init(after: RecordID? = nil, through: RecordID? = nil) {
    (self.after, self.through) = (after, through)
  }

  /// Whether both ends are open.
  package var isWhole: Bool { after == nil && through == nil }

  func contains(_ id: RecordID) -> Bool {
    (after.map { $0 < id } ?? true) && (through.map { id <= $0 } ?? true)
  }
}
