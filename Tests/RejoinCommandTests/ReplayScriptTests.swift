// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinComparison
import Testing
import _RejoinVerification

@testable import RejoinCommand

/// A replay script in the repository, with its expected output.
struct CheckedInScript: Sendable, CustomTestStringConvertible {
  let name: String
  let text: String
  let expected: [Substring]

  var testDescription: String { name }

  /// Every script, sorted by name.
  static let all: [CheckedInScript] = {
    guard
      let folder = Bundle.module.url(
        forResource: "Scripts", withExtension: nil)
    else { return [] }
    let files = try? FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    return (files ?? []).filter { $0.pathExtension == "jsonl" }
      .compactMap { CheckedInScript($0) }.sorted { $0.name < $1.name }
  }()

  private init?(_ file: URL) {
    let answer = file.deletingPathExtension().appendingPathExtension("expected")
    guard let text = try? String(contentsOf: file, encoding: .utf8),
      let expected = try? String(contentsOf: answer, encoding: .utf8)
    else { return nil }
    name = file.deletingPathExtension().lastPathComponent
    self.text = text
    self.expected = expected.split(separator: "\n")
  }
}

@Suite struct ReplayScriptTests {
  init() throws { try Premises.check() }

  @Test(arguments: CheckedInScript.all)
  func scriptPrintsExpectedOutput(_ script: CheckedInScript) throws {
    var printed: [String] = []
    try Replay.run(script.text) { printed.append($0) }
    #expect(printed.count == script.expected.count)
    for (line, expected) in zip(printed, script.expected) {
      #expect(line.utf8.elementsEqual(expected.utf8), "\(line)")
    }
  }

  @Test func everyScriptHasHeaderAndExpectedOutput() {
    #expect(CheckedInScript.all.count >= 130)
    for script in CheckedInScript.all {
      #expect(script.text.hasPrefix("# "), "\(script.name)")
      #expect(!script.expected.isEmpty, "\(script.name)")
    }
  }

  @Test(arguments: CheckedInScript.all.filter { $0.name.contains("random") })
  func devicesAgreeAtEndOfLongScript(_ script: CheckedInScript) throws {
    let shows = script.text.split(separator: "\n").reversed()
      .prefix { $0.contains("\"do\": \"show\"") }
    #expect(shows.count > 1)
    let states = try script.expected.suffix(shows.count)
      .map(Self.sharedState)
    #expect(Set(states).count == 1)
  }

  /// A line of output without the device.
  private static func sharedState(_ line: Substring) throws -> String {
    let json = try JSONParser.value(of: Array(line.utf8)[...])
    guard case .object(var members) = json else { return "" }
    members["device"] = nil
    members["gaps"] = nil
    return JSONValue.object(members).description
  }
}
