// SPDX-License-Identifier: Apache-2.0

/// A human-readable format.
package enum TextFormat: String, Hashable, Sendable, CaseIterable {
  /// Aligned text for a terminal.
  case table
  /// A Markdown table for a document.
  case markdown
}
