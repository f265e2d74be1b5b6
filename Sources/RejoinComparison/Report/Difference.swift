// SPDX-License-Identifier: Apache-2.0

/// A measure of how much the strategies differ in an episode.
///
/// More different endings come first, then fewer changes in the episode.
package struct Difference: Comparable {
  private let endings: Int
  private let changes: Int

  /// Compares the endings of an episode.
  package init(_ verdicts: [EpisodeVerdict], in episode: Episode) {
    let words = verdicts.map {
      episode.words(for: $0.outcome) + $0.losses.words
    }
    endings = Set(words).count
    changes = episode.edits.reduce(0) { $0 + $1.fields.count }
  }

  package static func < (a: Difference, b: Difference) -> Bool {
    (a.endings, -a.changes) < (b.endings, -b.changes)
  }
}
