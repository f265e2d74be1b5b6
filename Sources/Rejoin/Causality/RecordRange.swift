// SPDX-License-Identifier: Apache-2.0

/// The records that a delta covers: those after `after` and up to `through`.
///
/// An end that is `nil` is open.
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
