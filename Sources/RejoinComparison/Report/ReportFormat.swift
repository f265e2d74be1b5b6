// SPDX-License-Identifier: Apache-2.0

/// The format of a report.
package enum ReportFormat: String, Hashable, Sendable, CaseIterable {
  /// Aligned text for a terminal.
  case table
  /// A Markdown table for a document.
  case markdown
  /// One JSON object for programs. Its keys do not change.
  case json
}
