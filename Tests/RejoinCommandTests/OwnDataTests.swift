// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinSQL
import Testing

/// `rejoin compare` on data in the formats of other programs.
@Suite struct OwnDataTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  private static let versions = [
    "base": [
      ("1", "Milk", "open"), ("2", "Bread", "open"), ("3", "Salt", ""),
      ("4", "Tea", ""),
    ],
    "mine": [
      ("1", "Milk", "bought"), ("2", "Rye", "open"), ("3", "Salt", ""),
      ("4", "Tea", "bought"),
    ],
    "theirs": [
      ("1", "Oat milk", "open"), ("2", "Toast", "open"), ("4", "Tea", ""),
    ],
  ]

  /// Both sides changed different fields of record 1 and the same field of
  /// record 2.
  ///
  /// One side deleted record 3, and the other side changed record 4.
  private func check(_ printed: Printed) {
    #expect(printed.code == 0, "\(printed.text)")
    #expect(printed.counts(of: "recordByServerTime") == [2, 2, 2])
    #expect(printed.counts(of: "changedKeys") == [1, 1, 1])
    #expect(printed.counts(of: "rejoin") == [0, 0, 0])
  }

  private func compare(_ paths: [String: String]) throws -> Printed {
    try rejoin(
      "compare", "--base", paths["base"] ?? "", "--mine", paths["mine"] ?? "",
      "--theirs", paths["theirs"] ?? "", "--strategies", Self.strategies,
      "--format", "json")
  }

  static let strategies = "recordByServerTime,changedKeys,rejoin"

  @Test func compareReadsCSVTables() throws {
    check(
      try compare(
        Self.versions.reduce(into: [:]) { paths, version in
          let rows = version.value.map { "\($0),\"\($1)\",\($2)\r\n" }
          paths[version.key] = try folder.write(
            "key,title,state\r\n" + rows.joined(),
            to: "\(version.key).csv")
        }))
  }

  /// The files start with a byte order mark, which some editors write.
  @Test func compareReadsJSONTables() throws {
    check(
      try compare(
        Self.versions.reduce(into: [:]) { paths, version in
          let rows = version.value.map {
            #"{"id":\#($0),"title":"\#($1)","state":"\#($2)"}"#
          }
          paths[version.key] = try folder.write(
            "\u{feff}[" + rows.joined(separator: ",\n") + "]",
            to: "\(version.key).json")
        }))
  }

  @Test(arguments: ["UTF-8", "UTF-16"])
  func compareReadsSQLiteFiles(_ encoding: String) throws {
    var paths: [String: String] = [:]
    for (name, rows) in Self.versions {
      let path = folder.url.appending(path: "\(name).sqlite").path
      let connection = try SQLiteConnection(opening: path)
      try connection.run("PRAGMA encoding = '\(encoding)'")
      try connection.run(
        "CREATE TABLE \"my notes\" (a INTEGER, b TEXT, title TEXT, state TEXT, "
          + "weight REAL, PRIMARY KEY (b, a))")
      try connection.run("CREATE TABLE log (line TEXT)")
      for (key, title, state) in rows {
        try connection.run(
          "INSERT INTO \"my notes\" VALUES (?, 'x', ?, ?, 0.1)",
          .integer(Int64(key) ?? 0), .text(title), .text(state))
      }
      paths[name] = path
    }
    check(try compare(paths))
    func explain(_ id: String) throws -> Printed {
      try rejoin(
        "compare", "--base", paths["base"] ?? "", "--mine",
        paths["mine"] ?? "", "--theirs", paths["theirs"] ?? "", "--explain", id)
    }
    let story = try explain("my notes#x/1")
    #expect(story.text.contains("first: mine sets state to \"bought\""))
    #expect(story.text.contains("  weight 0.1\n"))
    let alone = try explain("my notes#x/4")
    #expect(alone.code == 2 && alone.text.contains("; there are 2,"))
  }

  /// Names and keys that look alike or contain special characters.
  @Test func compareReadsTablesWithOddNames() throws {
    var paths: [String: String] = [:]
    for (place, name) in ["base", "mine", "theirs"].enumerated() {
      let path = folder.url.appending(path: "\(name).sqlite").path
      let connection = try SQLiteConnection(opening: path)
      try connection.run("CREATE TABLE log (line TEXT)")
      try connection.run(
        "CREATE TABLE \"a\"\"\u{301}\" (a TEXT, b TEXT, \"c\"\"\u{301}\" INTEGER, "
          + "PRIMARY KEY (a, b))")
      for (a, b) in [
        ("x/y", "z"), ("x", "y/z"), ("x\\", "y"), ("é", ""), ("e\u{301}", ""),
      ] {
        try connection.run(
          "INSERT INTO \"a\"\"\u{301}\" VALUES (CAST(? AS TEXT), "
            + "CAST(? AS TEXT), ?)",
          .text(a), .text(b), .integer(Int64(place)))
      }
      paths[name] = path
    }
    let printed = try compare(paths)
    #expect(printed.code == 0, "\(printed.text)")
    #expect(printed.counts(of: "recordByServerTime") == [5, 5, 5])
    for name in ["base", "mine", "theirs"] {
      #expect(
        printed.text.contains(
          "left out: \(paths[name]!), table log: it has no primary key\n"))
    }
  }

  /// A key may be NULL in SQLite, so two rows can have it.
  @Test func compareRefusesDuplicateKeys() throws {
    let path = folder.url.appending(path: "twice.sqlite").path
    let connection = try SQLiteConnection(opening: path)
    try connection.run("CREATE TABLE t (a TEXT PRIMARY KEY, b TEXT)")
    for _ in 1...2 { try connection.run("INSERT INTO t VALUES (NULL, 'x')") }
    let printed = try compare(["base": path, "mine": path, "theirs": path])
    #expect(printed.code == 2)
    #expect(
      printed.text.contains(
        "twice.sqlite, table t: the key \"NULL\" is there twice"))
  }

  @Test func compareReadsThreeStatesPerLine() throws {
    let path = try folder.write(
      """
      {"base":{"n":3,"t":["a"],"o":{"x":1}},"mine":{"n":2,"t":["a","b"],\
      "o":{"x":2}},"theirs":{"n":2,"t":[],"o":{"x":1}},"kinds":{"n":"counter"},\
      "resolution":{"n":1,"t":["b"],"o":{"x":2}}}
      """, to: "e.jsonl")
    let printed = try rejoin(
      "compare", path, "--strategies", "changedKeys,rejoin", "--format", "json")
    #expect(printed.counts(of: "rejoin") == [0, 0, 0])
    #expect(printed.asPeople("rejoin") == [3, 3])
    #expect(printed.counts(of: "changedKeys") == [2, 1, 2])
    #expect(printed.asPeople("changedKeys") == [1, 3])
  }

  @Test(arguments: [
    ("key,a\n1,2,3\n", ":2: 3 fields; expected 2, as in the header"),
    ("key,a\n1,2\n1,3\n", ":3: the key \"1\" is there twice"),
    ("key,a\n1,\"x\n", ":2: a quoted field does not end"),
    ("key,a\n1,\"x\"y\n", ":2: text after a quoted field"),
    ("a,a\n", ":1: two columns have one name"), ("", ":1: the file is empty"),
    ("key;a\n1;2\n", ":1: \"key;a\" is the only column"),
    ("key,a\r1,2\r", ":1: a carriage return within a line"),
    (
      "key,\(String(repeating: "a", count: 256))\n1,2\n",
      ":2: the name of the field \"aaaaaaaaaaaaaaaaaaaa…\" has 256 bytes"
    ),
    ("key,\u{e9},e\u{301}\n1,2,3\n", ":1: two columns have one name"),
  ])
  func compareRefusesBadCSV(text: String, problem: String) throws {
    let bad = try folder.write(text, to: "bad.csv")
    let printed = try compare(["base": bad, "mine": bad, "theirs": bad])
    #expect(printed.code == 2)
    #expect(printed.text.contains("bad.csv" + problem), "\(printed.text)")
  }

  @Test(arguments: [
    ("[1,\n2", ":2: "), ("3", ": no field is a key of all"),
    (#"[{"a":1},{"a":1}]"#, ": no field is a key of all records"),
    ("SQLite format 3\u{0}", ": "),
    (#"{"r":{"\#u{e9}":1,"e\#u{301}":1}}"#, ": two fields have the name"),
  ])
  func compareRefusesBadJSON(text: String, problem: String) throws {
    let bad = try folder.write(text, to: "bad.json")
    let printed = try compare(["base": bad, "mine": bad, "theirs": bad])
    #expect(printed.code == 2)
    #expect(printed.text.contains("bad.json" + problem), "\(printed.text)")
  }

  @Test func otherEncodingsAreRefused() throws {
    let latin = folder.url.appending(path: "latin.csv")
    try Data([UInt8]("key,a\n1,caf".utf8) + [0xe9, 0x0a]).write(to: latin)
    let csv = try compare(
      ["base": latin.path, "mine": latin.path, "theirs": latin.path])
    #expect(csv.code == 2)
    #expect(csv.text.contains("latin.csv: the text is not UTF-8"))
  }

  /// Data that only one version has does not delete the records.
  @Test(arguments: [
    (
      #"{"a":{"x":1},"b":{"x":1}}"#, #"{"a":{"x":1},"b":{"x":2},"version":2}"#,
      #"{"a":{"x":2},"b":{"x":1}}"#
    ),
    (
      #"[{"id":1,"name":"a"}]"#, #"[{"id":1,"name":"b"},{"name":"r"}]"#,
      #"[{"id":1,"name":"c"}]"#
    ),
  ])
  func extraDataOfOneVersionDeletesNoRecords(
    base: String, mine: String, theirs: String
  ) throws {
    let printed = try rejoin(
      "compare", "--base", folder.write(base, to: "b.json"), "--mine",
      folder.write(mine, to: "m.json"), "--theirs",
      folder.write(theirs, to: "t.json"), "--format", "json", "--explain",
      "m.json#.")
    #expect(!printed.text.contains("deletes"), "\(printed.text)")
  }

  /// Changes of Core Data's own columns and tables are not edits.
  @Test func compareIgnoresMetadataOfCoreData() throws {
    var paths: [String: String] = [:]
    for (place, name) in ["base", "mine", "theirs"].enumerated() {
      let path = folder.url.appending(path: "\(name).sqlite").path
      let connection = try SQLiteConnection(opening: path)
      for sql in [
        "CREATE TABLE ZPERSON (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, "
          + "Z_OPT INTEGER, ZNAME TEXT, ZPHONE TEXT)",
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_MAX INTEGER)",
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_PLIST BLOB)",
        "CREATE VIRTUAL TABLE f USING fts5(a)",
        "INSERT INTO f VALUES ('\(name)')",
        "INSERT INTO ZPERSON VALUES (1, 1, \(place), "
          + (name == "mine" ? "'Ada L.'" : "'Ada'") + ", "
          + (name == "theirs" ? "'1'" : "'0'") + ")",
        "INSERT INTO Z_PRIMARYKEY VALUES (1, \(place))",
        "INSERT INTO Z_METADATA VALUES (1, x'0\(place)')",
      ] { try connection.run(sql) }
      paths[name] = path
    }
    let printed = try compare(paths)
    #expect(printed.counts(of: "changedKeys") == [0, 0, 0])
    #expect(printed.counts(of: "recordByServerTime") == [1, 1, 1])
  }

  /// A value that is not of its declared kind is an error.
  @Test func declaredKindsApplyToEveryFormat() throws {
    func files(_ end: String, _ rows: [String]) throws -> [String] {
      try zip(["--base", "--mine", "--theirs"], rows).flatMap {
        [$0, try folder.write($1, to: "\($0)\(end)")]
      }
    }
    let csv = try files(
      ".csv",
      ["key,n,t\n1,3,a;b\n", "key,n,t\n1,2,a\n", "key,n,t\n1,2,a;b;c\n"])
    let json = try files(
      ".json",
      [
        #"{"1":{"n":3,"t":["a","b"]}}"#, #"{"1":{"n":2,"t":["a"]}}"#,
        #"{"1":{"n":2,"t":["a","b","c"]}}"#,
      ])
    for words in [csv, json] {
      let printed = try compared(
        words + ["--kinds", "n=counter,t=set", "--format", "json"])
      #expect(printed.counts(of: "rejoin") == [0, 0, 0])
      // Both sides sold one. One side removed b, and the other inserted c.
      #expect(
        printed.counts(of: "changedKeys") == [2, 1, 2], "\(printed.text)")
      let story = try compared(
        words + [
          "--kinds", "n=counter,t=set", "--strategies", "rejoin", "--explain",
          words == csv ? "--mine.csv#1" : "--mine.json#1",
        ])
      #expect(story.text.contains("ends with n 1, t [\"a\", \"c\"]"))
    }
    for (kinds, code, problem) in [
      ("n", 2, "--kinds needs fields with their kinds"),
      ("n=ledger", 2, "--kinds needs fields"),
      ("=set", 2, "--kinds needs fields"),
      ("n=set,n=counter", 2, "--kinds needs fields"),
      ("t=counter", 2, "found \"a;b\"; expected an integer"),
      (
        "m=counter,t=set", 2,
        "names \"m\", which no compared record has; name some of these fields: n, t"
      ),
    ] {
      let printed = try compared(csv + ["--kinds", kinds])
      #expect(printed.code == code)
      #expect(printed.text.contains(problem), "\(printed.text)")
    }
    #expect(try compared(["--kinds", "n=counter"]).code == 2)
  }

  private func compared(_ words: [String]) throws -> Printed {
    try run(
      Bundle.module.bundleURL.deletingLastPathComponent()
        .appending(path: "rejoin"), ["compare"] + words)
  }

  /// A page can be written into a pipe.
  @Test func pageGoesToStandardOutput() throws {
    let printed = try compared(["--episodes", "2", "--html", "/dev/stdout"])
    #expect(printed.code == 0)
    #expect(printed.text.hasPrefix("<!DOCTYPE html>"))
    #expect(printed.text.hasSuffix("</html>\n"))
  }

  @Test func percentagesMayHaveFractions() throws {
    let text = try compared(
      [
        "--episodes", "3", "--workload", "calm", "--contention", "3.9",
        "--resets", "0.5",
      ]).text
    #expect(
      text.replacing("\n", with: " ").contains("contention 0.039"), "\(text)")
    #expect(text.replacing("\n", with: " ").contains("0.5% resets"))
    #expect(
      try compared(["--contention", "101"]).text.contains(
        "--contention needs a number from 0 to 100, not \"101\""))
    #expect(try compared(["--contention", "nan"]).code == 2)
  }

  /// The first lines are the question, one table, and the result.
  @Test func firstLinesShowResult() throws {
    let lines = try compared(["--episodes", "40"]).text.split(
      separator: "\n", omittingEmptySubsequences: false)
    #expect(lines[0].hasSuffix("?"))
    let first = lines.prefix(24).joined(separator: " ")
    #expect(first.contains("How often that happens is not shown"))
    #expect(first.contains("strategy  "))
    #expect(first.contains("neither does Rejoin"))
    #expect(lines.prefix(24).allSatisfy { $0.count <= 80 })
  }

  /// A page does not replace other files.
  @Test func pageReplacesOnlyPages() throws {
    let states = try folder.write(
      #"{"base":{"a":1},"mine":{"a":2},"theirs":{"a":3}}"#, to: "s.jsonl")
    let page = folder.url.appending(path: "p.html").path
    for _ in 1...2 {
      #expect(try rejoin("compare", states, "--html", page).code == 0)
    }
    #expect(try rejoin("compare", page, "--html", states).code == 2)
  }

  /// Every output has every format.
  @Test func everyOutputHasEveryFormat() throws {
    for line in try rejoin("compare", "--help").text.split(separator: "\n") {
      #expect(line.count <= 80, "\(line)")
    }
    let story = try rejoin("compare", "--explain", "steps", "--format", "json")
    let object = try JSONSerialization.jsonObject(with: Data(story.text.utf8))
    #expect((object as? [String: Any])?["id"] as? String == "steps")
    let fenced = try rejoin(
      "compare", "--explain", "steps", "--format", "markdown")
    #expect(fenced.text.hasPrefix("```\nEpisode steps\n"))
    let text = try rejoin("compare", "--episodes", "2", "--format", "json").text
    let document = try #require(
      JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect((document["examples"] as? [Any])?.count == 8)
    let comparisons = try #require(document["comparisons"] as? [[String: Any]])
    #expect(comparisons.map { $0["name"] as? String } == ["calm", "hostile"])
    for comparison in comparisons {
      #expect((comparison["verdicts"] as? [Any])?.count == 2)
      #expect((comparison["parameters"] as? [String: Any])?["seed"] != nil)
    }
    let lines = try rejoin("compare", "--episodes", "2", "--format", "jsonl")
      .text.split(separator: "\n").map {
        try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
      }
    let types = Dictionary(grouping: lines) { $0?["type"] as? String ?? "" }
      .mapValues(\.count)
    #expect(
      types == ["comparison": 2, "strategy": 14, "verdict": 4, "example": 8])
  }

  @Test func compareRefusesBadArguments() throws {
    let empty = try folder.write("", to: "empty.jsonl")
    let states = try folder.write(
      #"{"base":{"a":1},"mine":{"a":2},"theirs":{"a":3}}"#, to: "states.jsonl")
    for (words, problem) in [
      (["--base", "a"], "belong together"), (["--git", "."], "PATH…"),
      (
        ["--git", ".", "--mine", "a"],
        "cannot combine --git with --mine; use one"
      ),
      ([empty, "--html", "a"], "no record was changed on both sides"),
      ([states, "--html", states], "this command did not write it"),
      (["--explain", "nobody"], "no episode has the ID \"nobody\""),
      (["--html", "a", "--explain", "nobody"], "no episode has the ID"),
      (["--git", "/", "x.json"], "name a repository with merges"),
      (["--workload", "quiet"], "use calm, busy, hostile"),
    ] {
      let printed = try compared(words)
      #expect(printed.code == 2, "\(words)")
      #expect(printed.text.contains(problem), "\(printed.text)")
    }
  }
}
