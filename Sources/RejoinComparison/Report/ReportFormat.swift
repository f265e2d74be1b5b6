// SPDX-License-Identifier: Apache-2.0

/// How a report is written.
public enum ReportFormat: String, Hashable, Sendable, CaseIterable {
  /// Aligned text for people.
  case table
  /// A table for a document.
  case markdown
  /// One object for programs, whose keys stay as they are.
  case json
}
