// SPDX-License-Identifier: Apache-2.0

/// A small episode with something to learn from it.
public struct WorkedExample: Sendable {
  /// What it is about.
  public let title: String
  /// What it teaches, in one sentence.
  public let lesson: String
  /// The edits.
  public let episode: Episode
}
