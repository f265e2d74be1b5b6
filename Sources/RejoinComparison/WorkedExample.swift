// SPDX-License-Identifier: Apache-2.0

/// A small episode that shows how strategies lose edits.
package struct WorkedExample: Sendable {
  /// The situation in a few words.
  package let title: String
  /// The lesson of the example in one sentence.
  package let lesson: String
  /// The episode.
  package let episode: Episode
}
