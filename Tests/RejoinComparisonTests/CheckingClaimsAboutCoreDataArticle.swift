// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinComparison
import Testing

/// Compiles the code of the articles about Core Data, and checks the names in
/// them.
@Suite struct CheckingClaimsAboutCoreDataArticle {
  private let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private func page(_ name: String) throws -> String {
    try String(
      contentsOf: root.appending(
        path: "Sources/RejoinComparison/RejoinComparison.docc/\(name).md"),
      encoding: .utf8)
  }

  @Test func namedTestsAndStrategiesExist() throws {
    let rows = try page("CheckingClaimsAboutCoreData").split(separator: "\n")
      .filter { $0.hasPrefix("| ") }.dropFirst()
    #expect(rows.count == 25)
    var tests = ""
    let files = FileManager.default.enumerator(
      at: root.appending(path: "Tests"), includingPropertiesForKeys: nil)
    while let file = files?.nextObject() as? URL {
      if file.pathExtension == "swift" {
        tests += try String(contentsOf: file, encoding: .utf8)
      }
    }
    for (place, row) in rows.enumerated() {
      #expect(row.hasPrefix("| \(place + 1) |"))
      let proof = row.split(separator: "|").last ?? ""
      let names = proof.split(separator: "`").filter {
        ["Tests", "Article", "Claim"].contains(where: $0.hasSuffix)
      }
      #expect(!names.isEmpty || proof.contains("rejoin compare"), "\(row)")
      for name in proof.split(separator: "`").dropFirst().map(String.init)
      where name.first?.isLowercase == true && !name.contains(" ")
        && !name.contains("*")
      {
        #expect(Strategies.named(name) != nil, "no strategy \(name)")
      }
      for name in names {
        let isThere = ["struct", "class"].contains {
          tests.contains("\($0) \(name) {") || tests.contains("\($0) \(name):")
        }
        #expect(isThere, "there is no suite \(name)")
      }
    }
  }

  /// Appends the three states of a record to a file that `rejoin compare` reads.
  func log(
    base: [String: Any]?, mine: [String: Any]?, theirs: [String: Any]?,
    to file: URL
  ) throws {
    func plain(_ value: Any) -> Any {
      switch value {
      case is String, is NSNumber, is NSNull: value
      case let date as Date: date.timeIntervalSince1970
      case let data as Data: data.base64EncodedString()
      case let items as [String]: items
      default: "\(value)"
      }
    }
    let states: [String: Any] = [
      "base": base?.mapValues(plain) ?? NSNull(),
      "mine": mine?.mapValues(plain) ?? NSNull(),
      "theirs": theirs?.mapValues(plain) ?? NSNull(),
    ]
    let line = try JSONSerialization.data(withJSONObject: states) + [0x0a]
    if !FileManager.default.fileExists(atPath: file.path) {
      try Data().write(to: file)
    }
    let handle = try FileHandle(forWritingTo: file)
    defer { try? handle.close() }
    try handle.seekToEnd()
    try handle.write(contentsOf: line)
  }

  @Test func loggedStatesCanBeRead() throws {
    let code = try lines(
      String(contentsOf: URL(filePath: #filePath), encoding: .utf8))
    let block = try page("ComparingYourOwnData")
      .components(separatedBy: "```swift\n")[1]
      .components(separatedBy: "```")[0]
    #expect(code.contains(lines(block)))

    let file = FileManager.default.temporaryDirectory.appending(
      path: "rejoin-\(UUID()).jsonl")
    defer { try? FileManager.default.removeItem(at: file) }
    let date = Date(timeIntervalSince1970: 1)
    try log(
      base: [
        "title": "Milk", "n": 3, "tags": ["a"], "due": date,
        "photo": Data([1, 2]),
      ],
      mine: [
        "title": "Oat milk", "n": 3, "tags": ["a", "b"], "due": date,
        "photo": Data([1, 3]),
      ],
      theirs: [
        "title": "Milk", "n": 2, "tags": [String](), "photo": Data([1, 2]),
      ], to: file)
    try log(base: nil, mine: ["title": "x"], theirs: ["title": "y"], to: file)
    try log(base: ["title": "x"], mine: nil, theirs: ["title": "y"], to: file)
    let episodes = try EpisodeFile.episodes(
      in: String(contentsOf: file, encoding: .utf8), file: file.path)
    #expect(episodes.map(\.id) == ["line-1", "line-2", "line-3"])
    #expect(
      episodes[0].edits[0].set == ["title": "Oat milk", "photo": "AQM="])
    #expect(episodes[2].edits[0].isDeletion)
    #expect(episodes[0].edits[0].insert == ["tags": ["b"]])
    #expect(episodes[0].edits[1].remove == ["tags": ["a"]])
    #expect(episodes[0].edits[1].clear == ["due"])
    #expect(episodes[1].base == nil)
  }

  /// Returns the lines without indentation, because the code is in functions.
  private func lines(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.drop { $0 == " " } }.joined(separator: "\n")
  }
}
