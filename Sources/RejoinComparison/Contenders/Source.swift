// SPDX-License-Identifier: Apache-2.0

/// The sources of the strategies' rules.
enum Source {
  /// An article about CloudKit or Core Data.
  static let article = "article"
  /// A guide to bidirectional sync.
  static let guide = "guide to bidirectional sync"
  /// A guess, because no document states a rule.
  static let assumption = "assumption"
  /// This library.
  static let library = "this library"

  /// A page of Apple's documentation.
  static func apple(_ page: String) -> String { "Apple: \(page)" }

  /// The documentation of a system that was not run.
  static func model(_ document: String) -> String {
    "documentation: \(document)"
  }
}
