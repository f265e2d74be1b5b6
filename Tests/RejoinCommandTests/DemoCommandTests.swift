// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `rejoin demo`.
@Suite struct DemoCommandTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  @Test func outputIsEqualAndNarrow() throws {
    let first = try rejoin("demo")
    #expect(first.code == 0)
    #expect(try rejoin("demo").text == first.text)
    #expect(first.text.split(separator: "\n").allSatisfy { $0.count <= 80 })
  }

  @Test func outputShowsEachOutcome() throws {
    let lines = try rejoin("demo").text.split(separator: "\n")
    func count(_ line: String) -> Int { lines.count { $0 == line } }
    // Both increments count, and the later name is shown with the other.
    #expect(
      count("  both    2,000 steps, \"Ada L.\", and a conflict: \"Ada\"") == 1)
    #expect(count("  both    2,050 steps, \"Ada Lovelace\"") == 1)
    #expect(count("  both    2,010 steps, \"Ada Lovelace\"") == 1)
    #expect(count("  tablet  2,000 steps, \"Ada Lovelace\"") == 1)
    #expect(count("  phone   no profile") == 1)
  }

  @Test func namedFolderKeepsStores() throws {
    let path = folder.url.appending(path: "steps").path
    let printed = try rejoin("demo", path)
    #expect(printed.code == 0)
    #expect(
      printed.text
        == (try rejoin("demo").text)
        + "\nTry `rejoin store \(path)/phone.sqlite`.\n")
    let store = try rejoin("store", "\(path)/phone.sqlite")
    #expect(store.code == 0 && store.text.contains("Profile"), "\(store.text)")
    // A second run must not overwrite them.
    let again = try rejoin("demo", path)
    #expect(again.code == 2)
    #expect(again.text.contains("exists; name a folder that the demo creates"))
  }

  @Test func temporaryFolderIsRemoved() throws {
    let printed = try rejoin(
      "demo", environment: ["TMPDIR": folder.url.path])
    #expect(printed.code == 0)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        == [])
  }

  @Test func wrongArgumentsFail() throws {
    #expect(try rejoin("demo", "a", "b").code == 2)
    #expect(try rejoin("demo", "").code == 2)
    #expect(try rejoin("demo", "--fast").code == 2)
    try folder.write("text", to: "file")
    let printed = try rejoin("demo", folder.url.path + "/file/below")
    #expect(printed.code == 1)
    #expect(printed.text.contains("cannot be created"), "\(printed.text)")
  }
}
