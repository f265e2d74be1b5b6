// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Every line of code in an article is compiled, and every result is checked.
///
/// The file `<Article>Article.swift`, or `Shared.swift` for declarations of several
/// articles, has the lines of each block in their order,
/// and may have others between them. A line that shows a
/// result, `tablet[Profile.self, "ada"]?.steps  // 2000`, is there as
/// `#expect(tablet[Profile.self, "ada"]?.steps == 2000)`, and a truth value without
/// the comparison.
@Suite struct ArticleTests {
  @Test(arguments: try ArticleTests.articles())
  func everyLineIsCompiled(_ article: URL) throws {
    let name = article.deletingPathExtension().lastPathComponent
    let folder =
      switch name {
      case "README", "Storing", "AHub", "ListingAndShowing":
        "RejoinStoreTests"
      default: "RejoinTests/Articles"
      }
    let path = "Tests/\(folder)/\(name)Article.swift"
    let blocks = Self.blocks(of: try text(article))
    if blocks.isEmpty { return }
    let mirror = try source(path)
    let shared = try source("Tests/RejoinTests/Articles/Shared.swift")
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
        Issue.record("\(path): expected \"\(line)\" here, in its place")
        return
      }
      rest = rest[end...]
    }
  }

  /// What a line may look like where it is compiled.
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
      // A manifest, and what the tests of the policies compile.
      !block.contains { $0.contains(".product(") || $0.contains("Policies") }
    }
  }

  private static func squeezed(_ text: String) -> String {
    text.filter { !$0.isWhitespace }
  }

  private static func articles() throws -> [URL] {
    let catalogue = root.appending(path: "Sources/Rejoin/Rejoin.docc")
    let articles = try FileManager.default
      .contentsOfDirectory(at: catalogue, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "md" }
    let others = [
      "README", "Sources/RejoinStore/RejoinStore.docc/Storing",
      "Sources/RejoinStore/RejoinStore.docc/AHub",
      "Sources/RejoinStore/RejoinStore.docc/ListingAndShowing",
    ]
    return others.map { root.appending(path: "\($0).md") }
      + articles.sorted { $0.path < $1.path }
  }

  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private func text(_ file: URL) throws -> String {
    try String(contentsOf: file, encoding: .utf8)
  }
}
