// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RejoinCommand

/// A script with an error.
struct BrokenScript: Sendable, CustomTestStringConvertible {
  let name: String
  /// The line after the schema and one save.
  let line: String
  /// A part of the message's remedy.
  let hint: String

  init(_ name: String, _ line: String, says hint: String) {
    (self.name, self.line, self.hint) = (name, line, hint)
  }

  var testDescription: String { name }
}

@Suite struct ReplayErrorTests {
  private static let schema = """
    {"entities": {"Item": {"fields": {"name": "register", "qty": "counter", \
    "tags": "set", "log": "ledger", "place": "position"}}}}
    """
  private static let begin = """
    # a comment

    \(schema)
    {"do":"save","on":"A","at":1,"record":"Item/1","set":{"name":"x"}}
    {"do":"show","on":"A"}

    """
  private static let shown = """
    {"clock":{"A":1},"device":"A","gaps":0,\
    "records":{"Item/1":{"name":{"value":"x"}}}}
    """

  private func run(_ text: String) -> (printed: [String], error: ScriptError?) {
    var printed: [String] = []
    do {
      try Replay.run(text) { printed.append($0) }
      return (printed, nil)
    } catch {
      return (printed, error)
    }
  }

  @Test(arguments: [
    BrokenScript("malformed", #"{"do":"show","on":"A""#, says: "column 22"),
    BrokenScript(
      "trailing text", #"{"do":"show","on":"A"} x"#, says: "column 24"),
    BrokenScript("a list", "[1]", says: "write one object per line"),
    BrokenScript("a text", "\"show\"", says: "write one object per line"),
    BrokenScript("no verb", #"{"on":"A"}"#, says: "\"do\" is missing"),
    BrokenScript(
      "move of a register",
      #"{"do":"save","on":"A","record":"Item/1","move":{"name":[null,null]}}"#,
      says: "declare it as \"position\""),
    BrokenScript(
      "move to no gap",
      #"{"do":"save","on":"A","record":"Item/1","move":{"place":["Item/2"]}}"#,
      says: "the records on both sides of a gap"),
    BrokenScript(
      "move beside a number",
      #"{"do":"save","on":"A","record":"Item/1","move":{"place":[null,3]}}"#,
      says: "must name records, and not an integer"),
    BrokenScript("unknown verb", #"{"do":"sing","on":"A"}"#, says: "\"sing\""),
    BrokenScript(
      "unknown key", #"{"do":"show","on":"A","shown":1,"loud":true}"#,
      says: "unknown key \"loud\"; remove it, or correct its spelling"),
    BrokenScript(
      "doubled key", #"{"do":"show","on":"A","on":"B"}"#,
      says: "duplicate key \"on\""),
    BrokenScript(
      "doubled field",
      #"{"do":"save","on":"A","record":"Item/1","set":{"name":1,"name":2}}"#,
      says: "duplicate key \"name\""),
    BrokenScript(
      "nested too deeply", String(repeating: "[", count: 40),
      says: "nested too deeply"),
  ])
  func brokenLineIsRefused(_ script: BrokenScript) throws {
    try expectRefused(script)
  }

  @Test(arguments: [
    BrokenScript(
      "unknown entity", #"{"do":"delete","on":"A","record":"Thing/1"}"#,
      says: "entity \"Thing\" is not in the schema"),
    BrokenScript(
      "no record", #"{"do":"delete","on":"A","record":"Item"}"#,
      says: "write Entity/key"),
    BrokenScript(
      "unknown field",
      #"{"do":"save","on":"A","record":"Item/1","set":{"nmae":1}}"#,
      says: "no field \"nmae\""),
    BrokenScript(
      "another form of a name",
      #"{"do":"save","on":"A","record":"Item/1","set":{"name\u0301":1}}"#,
      says: "no field"),
    BrokenScript(
      "device of 17 bytes", #"{"do":"show","on":"ABCDEFGHIJKLMNOPQ"}"#,
      says: "1 to 16 bytes"),
    BrokenScript(
      "device without a name", #"{"do":"show","on":""}"#,
      says: "1 to 16 bytes"),
    BrokenScript(
      "unknown policy",
      #"{"do":"fetch","on":"A","context":"c","record":"Item/1","policy":"x"}"#,
      says: "mergeByPropertyStoreTrump"),
    BrokenScript(
      "unknown delta", #"{"do":"apply","on":"A","delta":"d"}"#,
      says: "\"d\""),
    BrokenScript(
      "unknown delta to split", #"{"do":"split","delta":"d","as":["e"]}"#,
      says: "\"d\""),
    BrokenScript(
      "no bytes", #"{"do":"delta","on":"A","since":null,"as":"d","bytes":0}"#,
      says: "\"bytes\" must be a number of bytes, 1 or more"),
    BrokenScript(
      "unknown backup", #"{"do":"restore","on":"A","from":"s"}"#,
      says: "no backup is kept as \"s\""),
    BrokenScript(
      "unknown context", #"{"do":"commit","context":"c"}"#,
      says: "no context is named \"c\"; fetch it first"),
    BrokenScript(
      "fork as a device that exists", #"{"do":"fork","on":"B","as":"A"}"#,
      says: "fork as a new device"),
    BrokenScript(
      "fork as itself", #"{"do":"fork","on":"A","as":"A"}"#,
      says: "fork as a new device"),
  ])
  func unknownNameIsRefused(_ script: BrokenScript) throws {
    try expectRefused(script)
  }

  @Test(arguments: [
    BrokenScript("device", #"{"do":"show","on":7}"#, says: "\"on\""),
    BrokenScript(
      "time", #"{"do":"show","on":"A","at":"noon"}"#, says: "\"at\""),
    BrokenScript(
      "fraction", #"{"do":"show","on":"A","at":1.5}"#, says: "\"at\""),
    BrokenScript(
      "records", #"{"do":"save","on":"A","records":{}}"#,
      says: "\"records\" must be a list"),
    BrokenScript(
      "one of the records", #"{"do":"save","on":"A","records":[1]}"#,
      says: "must be an object"),
    BrokenScript(
      "key in one of the records",
      #"{"do":"save","on":"A","records":[{"record":"Item/1","sett":{}}]}"#,
      says: "\"sett\""),
    BrokenScript(
      "verbs", #"{"do":"save","on":"A","record":"Item/1","set":[]}"#,
      says: "\"set\" must be an object"),
    BrokenScript(
      "value", #"{"do":"save","on":"A","record":"Item/1","set":{"name":[]}}"#,
      says: "scalar"),
    BrokenScript(
      "list", #"{"do":"save","on":"A","record":"Item/1","clear":"name"}"#,
      says: "list of strings"),
    BrokenScript(
      "element of a list",
      #"{"do":"save","on":"A","record":"Item/1","clear":[1]}"#,
      says: "list of strings"),
    BrokenScript(
      "increment",
      #"{"do":"save","on":"A","record":"Item/1","increment":{"qty":0.5}}"#,
      says: "by an integer"),
    BrokenScript(
      "elements",
      #"{"do":"save","on":"A","record":"Item/1","insert":{"tags":"a"}}"#,
      says: "list"),
    BrokenScript(
      "element",
      #"{"do":"save","on":"A","record":"Item/1","insert":{"tags":[{}]}}"#,
      says: "scalars"),
    BrokenScript(
      "entry",
      #"{"do":"save","on":"A","record":"Item/1","append":{"log":["a"]}}"#,
      says: "must be integers"),
    BrokenScript(
      "verb for another kind",
      #"{"do":"save","on":"A","record":"Item/1","insert":{"name":["a"]}}"#,
      says: "cannot change \"name\", which is a register"),
    BrokenScript(
      "basis", #"{"do":"delta","on":"A","since":1,"as":"d"}"#,
      says: "null for the whole state"),
    BrokenScript(
      "no basis", #"{"do":"delta","on":"A","as":"d"}"#,
      says: "null for the whole state"),
    BrokenScript(
      "import of nothing", #"{"do":"import","on":"A"}"#,
      says: "\"records\" must be a list"),
    BrokenScript(
      "pull from nobody", #"{"do":"pull","on":"A","at":1,"records":[]}"#,
      says: "\"server\" is missing"),
    BrokenScript(
      "pull at no time", #"{"do":"pull","on":"A","server":"S","records":[]}"#,
      says: "when the server modified the rows"),
    BrokenScript(
      "pull of a counter",
      #"{"do":"pull","on":"A","server":"S","at":1,"records":"#
        + #"[{"record":"Item/1","clear":["qty"]}]}"#,
      says: "\"qty\" is a counter, and only registers are pulled"),
  ])
  func wrongTypeIsRefused(_ script: BrokenScript) throws {
    try expectRefused(script)
  }

  private func expectRefused(_ script: BrokenScript) throws {
    let result = run(
      Self.begin + script.line + "\n" + #"{"do":"show","on":"A"}"#)
    let error = try #require(result.error)
    #expect(error.line == 6)
    #expect(error.reason.contains(script.hint), "\(error)")
    #expect("\(error)".hasPrefix("line 6: "))
    #expect(result.printed == [Self.shown], "earlier lines are printed")
  }

  @Test func resolveRefusesCounters() throws {
    let result = run(
      Self.begin + #"""
        {"do":"fetch","on":"A","context":"c","record":"Item/1","policy":"manual"}
        {"do":"resolve","context":"c","increment":{"qty":1}}
        """#)
    #expect(result.error?.line == 7)
    #expect(result.error?.reason.contains("use \"set\" and \"clear\"") == true)
  }

  @Test func restoreRefusesTokenWithUnnoticed() throws {
    let result = run(
      Self.begin + #"""
        {"do":"backup","on":"A","as":"s"}
        {"do":"restore","on":"A","from":"s","token":true,"unnoticed":true}
        """#)
    #expect(result.error?.line == 7)
    #expect(result.error?.reason.contains("not both") == true)
  }

  @Test func unnoticedRequiresBoolean() throws {
    let result = run(
      Self.begin + #"""
        {"do":"backup","on":"A","as":"s"}
        {"do":"restore","on":"A","from":"s","unnoticed":1}
        """#)
    #expect(result.error?.line == 7)
    #expect(result.error?.reason.contains("true or false") == true)
  }

  @Test(arguments: [
    "", "# nothing", #"{"do":"show","on":"A"}"#, "{}",
  ])
  func missingSchemaIsRefused(_ text: String) {
    let result = run(text)
    #expect(result.error?.line == 1)
    #expect(result.error?.reason.contains("begins with its schema") == true)
    #expect(result.printed.isEmpty)
  }

  @Test(arguments: [
    (#"{"entities": []}"#, "must be an object"),
    (#"{"entities": {"E": 1}}"#, "must be an object"),
    (
      #"{"entities": {"E": {"fields": {"f": "list"}}}}"#,
      "ledger, lww, position, register"
    ),
    (
      #"{"entities": {"E": {"fields": {"f": 1}}}}"#,
      "ledger, lww, position, register"
    ),
    (#"{"entities": {"E": {"fields": {"": "set"}}}}"#, "needs a name"),
    (#"{"entities": {"E": {"deletion": "x"}}}"#, "updateWins or deleteWins"),
    (#"{"entities": {"E": {"deletion": 1}}}"#, "\"deletion\""),
    (#"{"entities": {"E": {"localOnly": true}}}"#, "\"localOnly\""),
    (#"{"entities": {"E": {"feilds": {}}}}"#, "\"feilds\""),
    (#"{"entities": {"E/F": {}}}"#, "no \"/\""),
    (#"{"entities": {"rejoin.roster": {}}}"#, "no \"rejoin.\""),
    (#"{"entities": {}, "version": 1}"#, "unknown key \"version\""),
  ])
  func brokenSchemaIsRefused(_ schema: String, _ hint: String) {
    let result = run("\n" + schema)
    #expect(result.error?.line == 2)
    #expect(result.error?.reason.contains(hint) == true)
  }

  /// The letters take four bytes each: the limit counts bytes.
  @Test(arguments: [
    (String(repeating: "\u{1f30d}", count: 64), false),
    (String(repeating: "\u{1f30d}", count: 63) + "abc", true),
  ])
  func namesTakeUpTo255Bytes(name: String, isShort: Bool) {
    let field = "{\"entities\": {\"E\": {\"fields\": {\"\(name)\": \"set\"}}}}"
    let entity = "{\"entities\": {\"\(name)\": {\"fields\": {\"f\": \"set\"}}}}"
    for (schema, record, field) in [
      (field, "E/1", name), (entity, "\(name)/1", "f"),
    ] {
      let save = """
        {"do":"save","on":"A","record":"\(record)","insert":{"\(field)":["x"]}}
        {"do":"sync","from":"A","to":"B"}
        """
      let result = run("# long names\n\(schema)\n\(save)")
      #expect(result.error?.line == (isShort ? nil : 2))
      #expect(
        isShort || result.error?.reason.contains("256 bytes; shorten") == true)
    }
  }

  @Test func nameOfSixteenBytesIsDeviceID() {
    let name = "ABCDEFGHIJKLMNOP"
    let result = run(Self.schema + "\n{\"do\":\"show\",\"on\":\"\(name)\"}")
    #expect(result.error == nil)
    #expect(result.printed.first?.contains(name) == true)
  }

  @Test func linesMayEndLikeOnWindows() {
    let lines = [Self.schema, "", "# more", #"{"do":"show","on":"A"}"#]
    let result = run(lines.joined(separator: "\r\n"))
    #expect(result.error == nil)
    #expect(result.printed.count == 1)
  }
}
