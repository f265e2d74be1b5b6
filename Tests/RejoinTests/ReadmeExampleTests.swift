// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import Testing

/// The example of the README is compiled, and prints what it says there.
@Suite struct ReadmeExampleTests {
  @Test func printsWhatTheReadmeSays() throws {
    let printed = try readmeExample(clock: WallClock { 1000 })
    let readme = try text("README.md")
    #expect(readme.contains(printed.joined(separator: "\n")))
  }

  @Test func isTheExampleOfTheReadme() throws {
    let example = try text("Tests/RejoinTests/ReadmeExample.swift")
    let code = try #require(example.range(of: "import Rejoin"))
    #expect(try text("README.md").contains(example[code.lowerBound...]))
  }

  private func text(_ path: String) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }
}
