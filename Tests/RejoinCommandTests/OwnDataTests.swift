// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinSQL
import Testing

/// `rejoin compare` on data that nobody has written for it.
@Suite struct OwnDataTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  /// The counts of a strategy in a table.
  private func counts(_ printed: Printed, _ name: String) -> [String]? {
    printed.text.split(separator: "\n").map { $0.split(separator: " ") }
      .first { row in row.contains { $0 == name || $0 == "\(name)," } }
      .map { $0.filter { $0.first?.isNumber == true }.map(String.init) }
  }

  private static let versions = [
    "base": [("1", "Milk", "open"), ("2", "Bread", "open"), ("3", "Salt", "")],
    "mine": [("1", "Milk", "bought"), ("2", "Rye", "open"), ("3", "Salt", "")],
    "theirs": [("1", "Oat milk", "open"), ("2", "Toast", "open")],
  ]

  /// Of three records, both sides have changed two: one in different fields, and
  /// one in the same.
  private func check(_ printed: Printed) {
    #expect(printed.code == 0, "\(printed.text)")
    #expect(counts(printed, "recordByServerTime") == ["2", "2", "0"])
    #expect(counts(printed, "changedKeys") == ["1", "1", "0"])
    #expect(counts(printed, "rejoin") == ["0", "0", "0"])
  }

  private func compare(_ paths: [String: String]) throws -> Printed {
    try rejoin(
      "compare", "--base", paths["base"] ?? "", "--mine", paths["mine"] ?? "",
      "--theirs", paths["theirs"] ?? "", "--strategies", Self.strategies)
  }

  private static let strategies = "recordByServerTime,changedKeys,rejoin"

  @Test func threeTablesAsCSV() throws {
    check(
      try compare(
        Self.versions.reduce(into: [:]) { paths, version in
          let rows = version.value.map { "\($0),\"\($1)\",\($2)\r\n" }
          paths[version.key] = try folder.write(
            "key,title,state\r\n" + rows.joined(),
            to: "\(version.key).csv")
        }))
  }

  @Test func threeTablesAsJSON() throws {
    check(
      try compare(
        Self.versions.reduce(into: [:]) { paths, version in
          let rows = version.value.map {
            #"{"id":\#($0),"title":"\#($1)","state":"\#($2)"}"#
          }
          paths[version.key] = try folder.write(
            "[" + rows.joined(separator: ",\n") + "]",
            to: "\(version.key).json")
        }))
  }

  @Test func threeFilesOfSQLite() throws {
    var paths: [String: String] = [:]
    for (name, rows) in Self.versions {
      let path = folder.url.appending(path: "\(name).sqlite").path
      let connection = try SQLiteConnection(opening: path)
      try connection.run(
        "CREATE TABLE \"my notes\" (a INTEGER, b TEXT, title TEXT, state TEXT, "
          + "weight REAL, PRIMARY KEY (b, a))")
      try connection.run("CREATE TABLE log (line TEXT)")
      for (key, title, state) in rows {
        try connection.run(
          "INSERT INTO \"my notes\" VALUES (?, 'x', CAST(? AS TEXT), "
            + "CAST(? AS TEXT), 0.1)",
          .integer(Int64(key) ?? 0), .text(title), .text(state))
      }
      paths[name] = path
    }
    check(try compare(paths))
    let story = try rejoin(
      "compare", "--base", paths["base"] ?? "", "--mine", paths["mine"] ?? "",
      "--theirs", paths["theirs"] ?? "", "--explain", "my notes#x/1")
    #expect(story.text.contains("first: mine sets state to \"bought\""))
    #expect(story.text.contains("  weight 0.1\n"))
  }

  @Test func threeStatesOnALine() throws {
    let path = try folder.write(
      """
      {"base":{"n":3,"t":["a"],"o":{"x":1}},"mine":{"n":2,"t":["a","b"],\
      "o":{"x":2}},"theirs":{"n":2,"t":[],"o":{"x":1}},"kinds":{"n":"counter"},\
      "resolution":{"n":1,"t":["b"],"o":{"x":2}}}
      """, to: "e.jsonl")
    let printed = try rejoin(
      "compare", path, "--strategies", "changedKeys,rejoin")
    #expect(counts(printed, "rejoin") == ["0", "0", "0", "100.0%"])
    #expect(counts(printed, "changedKeys") == ["2", "2", "0", "33.3%"])
  }

  @Test(arguments: [
    ("key,a\n1,2,3\n", ":2: 3 fields; expected 2, as in the header"),
    ("key,a\n1,2\n1,3\n", ":3: \"1\" is twice in the column \"key\""),
    ("key,a\n1,\"x\n", ":2: a quoted field does not end"),
    ("key,a\n1,\"x\"y\n", ":2: text after a quoted field"),
    ("a,a\n", ":1: two columns have one name"), ("", ":1: the file is empty"),
  ])
  func badCSV(text: String, problem: String) throws {
    let bad = try folder.write(text, to: "bad.csv")
    let printed = try compare(["base": bad, "mine": bad, "theirs": bad])
    #expect(printed.code == 2)
    #expect(printed.text.contains("bad.csv" + problem), "\(printed.text)")
  }

  @Test(arguments: [
    ("[1,\n2", ":2: "), ("3", ": found an integer"),
    (#"[{"a":1},{"a":1}]"#, ": the records of the array have no key"),
    ("SQLite format 3\u{0}", ": "),
  ])
  func badFiles(text: String, problem: String) throws {
    let bad = try folder.write(text, to: "bad.json")
    let printed = try compare(["base": bad, "mine": bad, "theirs": bad])
    #expect(printed.code == 2)
    #expect(printed.text.contains("bad.json" + problem), "\(printed.text)")
  }

  /// Every output has every format.
  @Test func formats() throws {
    for line in try rejoin("compare", "--help").text.split(separator: "\n") {
      #expect(line.count <= 80, "\(line)")
    }
    let story = try rejoin("compare", "--explain", "steps", "--format", "json")
    let object = try JSONSerialization.jsonObject(with: Data(story.text.utf8))
    #expect((object as? [String: Any])?["id"] as? String == "steps")
    let fenced = try rejoin(
      "compare", "--explain", "steps", "--format", "markdown")
    #expect(fenced.text.hasPrefix("```\nEpisode steps\n"))
    let lines = try rejoin("compare", "--episodes", "2", "--format", "json")
      .text
      .split(separator: "\n").map {
        try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
      }
    #expect(lines.compactMap { $0?["example"] }.count == 7)
    #expect(
      lines.compactMap { $0?["name"] as? String } == ["calm", "hostile"])
    let path = try folder.write(
      #"{"base":{"a":1},"mine":{"a":2},"theirs":{"a":3},"resolution":{"a":3}}"#,
      to: "one.jsonl")
    let table = try rejoin(
      "compare", path, "--suggestions", "--format", "markdown")
    #expect(table.text.contains("| the later | 1 | 100.0% |"))
  }

  @Test func badWords() throws {
    for (words, problem) in [
      (["--base", "a"], "belong together"), (["--git", "."], "PATH…"),
      (["--git", "/", "x.json"], "expected a repository with merges"),
      (["missing.jsonl"], "there is no such file"),
      (["--workload", "quiet"], "use calm, busy, hostile"),
    ] {
      let printed = try run(
        Bundle.module.bundleURL.deletingLastPathComponent()
          .appending(path: "rejoin"), ["compare"] + words)
      #expect(printed.code == 2, "\(words)")
      #expect(printed.text.contains(problem), "\(printed.text)")
    }
  }

  static let hasGit =
    (try? run(URL(fileURLWithPath: "/usr/bin/env"), ["git", "--version"]))?
    .code == 0

  /// Twenty merges: each side changes its field of a record, and every fourth time
  /// both change one.
  @Test(.enabled(if: hasGit)) func aRepository() throws {
    func git(_ words: String...) throws {
      let printed = try run(
        URL(fileURLWithPath: "/usr/bin/env"),
        ["git", "-c", "user.name=n", "-c", "user.email=e"] + words,
        in: folder.url, ["GIT_CONFIG_GLOBAL": "/dev/null"])
      try #require(printed.code == 0, "\(words): \(printed.text)")
    }
    var (a, b, c) = (0, 0, 0)
    func save(_ branch: String) throws {
      try folder.write(
        #"{"r":{"a":\#(a),"b":\#(b),"c":\#(c)},"s":{"a":0}}"#, to: "d.json")
      try git("add", ".")
      try git("commit", "-q", "-m", branch)
    }
    try git("init", "-q", "-b", "main")
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
      // What people made of it.
      try git("merge", "-q", "-s", "ours", "--no-commit", "side\(i)")
      try save("merge")
    }
    let printed = try rejoin(
      "compare", "--git", folder.url.path, "d.json", "--strategies",
      Self.strategies)
    #expect(counts(printed, "rejoin")?.prefix(3) == ["0", "0", "0"])
    // Of each merge one edit, and of five another.
    #expect(
      counts(printed, "recordByServerTime")?.prefix(3) == ["25", "25", "0"],
      "\(printed.text)")
    #expect(counts(printed, "changedKeys")?.first == "5", "\(printed.text)")
    // A version that is no JSON is told, and left out.
    try git("checkout", "-q", "-b", "bad")
    try folder.write("{", to: "d.json")
    try git("commit", "-q", "-a", "-m", "bad")
    try git("checkout", "-q", "main")
    a = 100
    try save("mine")
    try git("merge", "-q", "-s", "ours", "bad")
    let rest = try rejoin(
      "compare", "--git", folder.url.path, "d.json", "--strategies", "rejoin")
    #expect(rest.code == 0)
    #expect(rest.text.contains("left out: "), "\(rest.text)")
    #expect(rest.text.contains(":d.json:1: "), "\(rest.text)")
    let none = try rejoin("compare", "--git", folder.url.path, "no/such")
    #expect(none.code == 2)
  }
}
