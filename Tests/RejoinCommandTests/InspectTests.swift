// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `rejoin inspect` and the reader in Python, which share no code.
@Suite struct InspectTests {
  private static let golden = ["RejoinTests/Golden", "RejoinSyncTests/Golden"]
    .map { name in
      URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: name)
    }

  private func content(_ text: Data) throws -> NSDictionary {
    let json = try JSONSerialization.jsonObject(with: text)
    let content = NSMutableDictionary(
      dictionary: try #require(json as? [String: Any]))
    // The two readers divide a message into different sections.
    content.removeObject(forKey: "sections")
    return content
  }

  @Test func inspectAgreesWithPythonReader() throws {
    let files = try InspectTests.golden.flatMap {
      try FileManager.default.contentsOfDirectory(
        at: $0, includingPropertiesForKeys: nil)
    }
    var count = 0
    // Only a store reads a patch, with the record that it belongs to.
    for file in files
    where file.pathExtension == "bin"
      && file.lastPathComponent != "stored-patch.bin"
    {
      let printed = try rejoin("inspect", "--format", "json", file.path)
      #expect(printed.code == 0, "\(printed.text)")
      let expected = try Data(
        contentsOf: file.deletingPathExtension().appendingPathExtension("json"))
      #expect(
        try content(Data(printed.text.utf8)) == content(expected),
        "\(file.lastPathComponent)")
      count += 1
    }
    #expect(count >= 27)
  }
}
