// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

private let hasGit =
  (try? run(URL(fileURLWithPath: "/usr/bin/env"), ["git", "--version"]))?
  .code == 0

/// `rejoin compare --git` on repositories that the tests create.
@Suite(.enabled(if: hasGit)) struct GitHistoryTests {
  private let folder: Folder

  init() throws {
    folder = try Folder()
    try git("init", "-q", "-b", "main")
  }

  @discardableResult
  private func git(
    _ words: String..., environment: [String: String] = [:]
  ) throws -> String {
    let printed = try run(
      URL(fileURLWithPath: "/usr/bin/env"),
      ["git", "-c", "user.name=n", "-c", "user.email=e"] + words,
      in: folder.url,
      environment.merging(["GIT_CONFIG_GLOBAL": "/dev/null"]) { $1 })
    try #require(printed.code == 0, "\(words): \(printed.text)")
    return printed.text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private func commit(
    _ message: String, environment: [String: String] = [:]
  ) throws {
    try git("add", "-A", ".")
    try git(
      "commit", "-q", "--allow-empty", "-m", message, environment: environment)
  }

  private func compare(
    _ paths: String = ".", in subfolder: String = "",
    environment: [String: String] = [:]
  ) throws -> Printed {
    try rejoin(
      "compare", "--git", folder.url.appending(path: subfolder).path, paths,
      "--strategies", OwnDataTests.strategies, "--format", "json",
      environment: environment)
  }

  /// In each of 20 merges, both sides change their own field of a record.
  ///
  /// In every fourth merge, both change the same field.
  @Test(arguments: ["d.json", ":(top)\n*\"é.json"])
  func compareReadsMergesOfRepository(file: String) throws {
    var (a, b, c) = (0, 0, 0)
    func save(_ branch: String) throws {
      try folder.write(
        #"{"r":{"a":\#(a),"b":\#(b),"c":\#(c)},"s":{"a":0}}"#, to: file)
      try commit(branch)
    }
    try save("base")
    for i in 1...20 {
      let isContested = i.isMultiple(of: 4)
      try git("checkout", "-q", "-b", "side\(i)")
      b = i
      if isContested { c = 100 + i }
      try save("theirs")
      try git("checkout", "-q", "main")
      (a, b) = (i, i - 1)
      if isContested { c = 200 + i }
      try save("mine")
      b = i
      if isContested { c = 100 + i }
      // The user's resolution of the merge.
      try git("merge", "-q", "-s", "ours", "--no-commit", "side\(i)")
      try save("merge")
    }
    let printed = try compare()
    #expect(printed.counts(of: "rejoin")?.prefix(3) == [0, 0, 0])
    // Each merge loses an edit, and five merges lose another one.
    #expect(
      printed.counts(of: "recordByServerTime") == [25, 20, 25],
      "\(printed.text)")
    #expect(printed.counts(of: "changedKeys")?.first == 5, "\(printed.text)")
    // A version that is not JSON is reported and left out.
    try git("checkout", "-q", "-b", "bad")
    try folder.write("{", to: file)
    try git("commit", "-q", "-a", "-m", "bad")
    try git("checkout", "-q", "main")
    a = 100
    try save("mine")
    try git("merge", "-q", "-s", "ours", "bad")
    let rest = try compare()
    #expect(rest.code == 0)
    #expect(rest.text.contains("left out: "), "\(rest.text)")
    #expect(rest.text.contains(".json:1: "), "\(rest.text)")
    #expect(try compare("no/such").code == 2)
  }

  /// Commits two sides that both change `sub/d.json`, and their merge.
  private func mergeTwoSides(
    mine: () throws -> Void = {}, theirs: () throws -> Void = {},
    merged: () throws -> Void = {}
  ) throws {
    let dates = ["GIT_AUTHOR_DATE": "2020-01-02T00:00:00Z"]
    try FileManager.default.createDirectory(
      at: folder.url.appending(path: "sub"), withIntermediateDirectories: true)
    try folder.write(#"{"r":{"a":0}}"#, to: "sub/d.json")
    try folder.write(#"{"r":{"a":0,"b":0}}"#, to: "e.json")
    try commit("base")
    try git("checkout", "-q", "-b", "side")
    try folder.write(#"{"r":{"a":1}}"#, to: "sub/d.json")
    try theirs()
    try commit("theirs")
    try git("checkout", "-q", "main")
    try folder.write(#"{"r":{"a":2}}"#, to: "sub/d.json")
    try mine()
    // The author's clock makes `mine` the earlier commit.
    try commit("mine", environment: dates)
    try git("merge", "-q", "-s", "ours", "--no-commit", "side")
    try folder.write(#"{"r":{"a":1}}"#, to: "sub/d.json")
    try merged()
    try commit("merge")
  }

  /// Expects that the server's time agrees with the resolution, because the
  /// second parent is later.
  private func check(_ printed: Printed) {
    #expect(printed.code == 0, "\(printed.text)")
    #expect(
      printed.counts(of: "recordByServerTime") == [1, 1, 1], "\(printed.text)")
    #expect(printed.asPeople("recordByServerTime") == [1, 1])
  }

  @Test func timesAreFoundFromSubfolder() throws {
    try mergeTwoSides()
    check(try compare("sub"))
    check(try compare("d.json", in: "sub"))
  }

  @Test func compareIgnoresVariablesOfGit() throws {
    try mergeTwoSides()
    check(try compare(environment: ["GIT_DIR": "/nowhere/.git"]))
  }

  /// Renaming a file does not delete its records.
  @Test func renamedFilesAreLeftOut() throws {
    try mergeTwoSides(
      mine: { try git("mv", "e.json", "f.json") },
      theirs: { try folder.write(#"{"r":{"a":1,"b":0}}"#, to: "e.json") },
      merged: { try folder.write(#"{"r":{"a":1,"b":0}}"#, to: "f.json") })
    let printed = try compare()
    check(printed)
    #expect(
      printed.text.contains(":e.json: it is not a file on both sides and in"))
  }

  @Test func foldersThatReplaceFilesAreLeftOut() throws {
    try mergeTwoSides(
      mine: {
        try git("rm", "-q", "e.json")
        try FileManager.default.createDirectory(
          at: folder.url.appending(path: "e.json"),
          withIntermediateDirectories: true)
        try folder.write("{}", to: "e.json/f")
      }, theirs: { try folder.write(#"{"r":{"a":1,"b":0}}"#, to: "e.json") })
    let printed = try compare()
    check(printed)
    #expect(printed.text.contains(":e.json: it is not a file on both sides"))
  }

  /// Each of two common ancestors has changes that the other one lacks.
  @Test func crossedMergesAreLeftOut() throws {
    try mergeTwoSides()
    let main = try git("rev-parse", "main^1")
    try git("checkout", "-q", "side")
    try git("merge", "-q", "-s", "ours", main)
    try git("merge", "-q", "-s", "ours", "main", "--no-commit")
    try folder.write(#"{"r":{"a":5}}"#, to: "sub/d.json")
    try commit("crossed")
    let printed = try compare()
    #expect(
      printed.text.contains(
        "left out: 1 merge whose parents do not have exactly one common ancestor"
      ),
      "\(printed.text)")
  }

  /// Reading a repository neither runs its programs nor waits.
  @Test func hostileRepositoryRunsNoProgram() throws {
    let marker = folder.url.appending(path: "marker").path
    let program = try folder.write(
      "#!/bin/sh\ntouch \(marker)\n", to: "program.sh")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: program)
    try mergeTwoSides()
    // This parent has a signature and a date in the far future.
    let (mine, side) = (
      try git("cat-file", "commit", "main^1"), try git("rev-parse", "side")
    )
    var lines = mine.components(separatedBy: "\n")
    let author = try #require(lines.firstIndex { $0.hasPrefix("author ") })
    lines[author] = "author n <e> 99999999999999999 +0000"
    lines.insert("gpgsig -----BEGIN PGP SIGNATURE-----", at: author + 2)
    lines.insert(" -----END PGP SIGNATURE-----", at: author + 3)
    try folder.write(lines.joined(separator: "\n") + "\n", to: "commit")
    let signed = try git(
      "hash-object", "-t", "commit", "-w", "--literally", "commit")
    let merged = try git(
      "commit-tree", "main^{tree}", "-p", signed, "-p", side, "-m", "merge")
    try git("reset", "-q", "--hard", merged)
    for (key, value) in [
      "log.showSignature": "true", "gpg.program": program,
      "core.fsmonitor": program, "core.pager": program,
      "diff.external": program,
    ] { try git("config", key, value) }
    // Git prints an error for each of these paths.
    let dead = (0..<2000).map {
      "/nowhere/\($0)/" + String(repeating: "x", count: 200)
    }
    try folder.write(
      dead.joined(separator: "\n"), to: ".git/objects/info/alternates")
    let printed = try compare()
    #expect(printed.code == 0)
    #expect(
      printed.counts(of: "recordByServerTime") == [1, 1, 1])
    #expect(!FileManager.default.fileExists(atPath: marker))
  }
}
