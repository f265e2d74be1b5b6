// SPDX-License-Identifier: Apache-2.0

/// A small episode that shows how strategies lose edits.
public struct WorkedExample: Sendable {
  /// The situation, in a few words.
  public let title: String
  /// What the example teaches, in one sentence.
  public let lesson: String
  /// The episode itself.
  public let episode: Episode
}
