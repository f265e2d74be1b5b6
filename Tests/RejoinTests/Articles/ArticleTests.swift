// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Checks that every line of code in an article is compiled, and that every
/// result is checked.
///
/// The lines of each block appear, in their order, in the test file
/// `<Article>Article.swift`, of which there can be one in each target, or in a
/// `Shared.swift` if several articles declare them. Other lines may stand between them. A line that shows a result,
/// `tablet[Profile.self, "ada"]?.steps  // 2000`, appears as
/// `#expect(tablet[Profile.self, "ada"]?.steps == 2000)`, and a truth value
/// appears without the comparison.
@Suite struct ArticleTests {
  @Test(arguments: try ArticleTests.articles())
  func articleTestContainsEveryLine(_ article: URL) throws {
    let blocks = Self.blocks(of: try text(article))
    if blocks.isEmpty { return }
    let name = article.deletingPathExtension().lastPathComponent
    let paths = try Self.files("Tests")
      .filter { $0.hasSuffix("/\(name)Article.swift") }
    let path = try #require(
      paths.first,
      "add a test \(name)Article.swift that runs the article's code")
    let mirror = try paths.map(source).joined()
    let shared = try Self.files("Tests")
      .filter { $0.hasSuffix("/Shared.swift") }.map(source).joined()
    for block in blocks { expect(block, in: shared + mirror, of: path) }
  }

  private func source(_ path: String) throws -> String {
    Self.squeezed(try text(Self.root.appending(path: path)))
  }

  private func expect(_ block: [String], in mirror: String, of path: String) {
    var rest = mirror[...]
    for line in block {
      let ends = Self.forms(of: line).compactMap {
        rest.range(of: $0)?.upperBound
      }
      guard let end = ends.min() else {
        Issue.record("\(path) does not contain \"\(line)\" in this order")
        return
      }
      rest = rest[end...]
    }
  }

  /// The forms that a line can have in the test.
  private static func forms(of line: String) -> [String] {
    let parts = line.components(separatedBy: "  // ").map(squeezed)
    guard parts.count == 2, !parts[0].isEmpty else { return [squeezed(line)] }
    let (code, result) = (parts[0], parts[1])
    return switch result {
    case "true": ["#expect(\(code))"]
    case "false": ["#expect(!\(code))"]
    default: [squeezed(line), "#expect(\(code)==\(result))"]
    }
  }

  private static func blocks(of article: String) -> [[String]] {
    article.components(separatedBy: "```swift\n").dropFirst().map {
      $0.components(separatedBy: "\n```")[0].components(separatedBy: "\n")
        .filter { !$0.isEmpty }
    }.filter { block in
      // Skip manifests, and code that the tests of the policies compile.
      !block.contains { $0.contains(".product(") || $0.contains("Policies") }
    }
  }

  private static func squeezed(_ text: String) -> String {
    text.filter { !$0.isWhitespace }
  }

  /// The README and the articles of the modules whose other tests do not
  /// compile them.
  private static func articles() throws -> [URL] {
    let modules = ["Rejoin", "RejoinStore", "RejoinSync"]
    let paths = try modules.flatMap {
      try files("Sources/\($0)/\($0).docc").filter { $0.hasSuffix(".md") }
    }
    return (["README.md"] + paths.sorted()).map { root.appending(path: $0) }
  }

  /// The paths of all files in a folder of the package.
  private static func files(_ folder: String) throws -> [String] {
    try FileManager.default
      .subpathsOfDirectory(atPath: root.appending(path: folder).path)
      .map { "\(folder)/\($0)" }
  }

  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private func text(_ file: URL) throws -> String {
    try String(contentsOf: file, encoding: .utf8)
  }
}
