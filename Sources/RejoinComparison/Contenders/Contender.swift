// SPDX-License-Identifier: Apache-2.0

/// A strategy that brings the edits of several devices together.
///
/// A contender gets an episode's edits in their order of arrival and says what
/// every device reads in the end. It neither scores itself nor sees a score.
public protocol Contender: Sendable {
  /// The name in the table.
  var name: String { get }

  /// The rule by which the strategy decides, in one sentence.
  var rule: String { get }

  /// Runs the edits of `episode`.
  func outcome(of episode: Episode) throws -> Outcome
}
