// SPDX-License-Identifier: Apache-2.0

/// A strategy for merging the edits of several devices.
///
/// A contender receives the edits of an episode in their order of arrival and
/// returns the final record of every device. It does not know how the outcome
/// is scored.
///
///     struct ReadOnly: Contender {
///       let name = "readOnly"
///       let rule = "no edit is applied"
///
///       func outcome(of episode: Episode) -> Outcome {
///         Outcome(everywhere: episode.base)
///       }
///     }
public protocol Contender: Sendable {
  /// The name in reports, unique among the strategies compared.
  var name: String { get }

  /// The merge rule in one sentence.
  var rule: String { get }

  /// The source of the rule, such as a document.
  var source: String { get }

  /// Merges the edits of an episode.
  func outcome(of episode: Episode) throws -> Outcome
}

extension Contender {
  /// The source of a custom strategy, `"custom"`.
  public var source: String { "custom" }
}
