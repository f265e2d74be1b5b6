// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

/// How every strategy ends on each worked example.
@Suite struct WorkedExamplesTests {
  private func check(
    _ example: WorkedExample,
    _ expected: [(ends: String, lost: String, [String])],
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    var missing = Set(Strategies.all.map(\.name))
    for (ends, lost, names) in expected {
      for name in names {
        missing.remove(name)
        let outcome = try #require(Strategies.named(name))
          .outcome(of: example.episode)
        let losses = Oracle(example.episode).verdict(on: outcome).losses
        #expect(
          example.episode.words(for: outcome) == ends, "\(name)",
          sourceLocation: location)
        #expect(losses.words == lost, "\(name)", sourceLocation: location)
      }
    }
    #expect(missing.isEmpty, sourceLocation: location)
  }

  private let refused = ["ifServerRecordUnchanged", "container.error"]
  private let storeFirst = ["container.mergeByPropertyStoreTrump"]
  private let allOrNothing = ["container.rollback", "container.serverWins"]
  private let mineFirst = [
    "container.mergeByPropertyObjectTrump", "container.mergeNonNil",
  ]
  private let wholeRecord = ["recordByServerTime", "recordByDeviceTime"]
  private let replacing = ["allKeys", "container.overwrite"]
  private let perField = [
    "changedKeys", "fieldByTime", "recordPerAttribute",
    "timestampThenVectorClock", "columnVersion",
  ]
  private let operations = [
    "appendOnlyEntries", "automergeLike", "handler.threeWay",
  ]
  private let rejoin = ["rejoin", "rejoin.deleteWins"]
  /// Contexts that write what they have edited, and those that may drop it.
  private let writing = [
    "mergeByPropertyObjectTrump", "mergeNonNil", "lastWriteWins", "merge",
  ].map { "rejoin + \($0)" }
  private let keepingTheStore = ["mergeByPropertyStoreTrump", "manual"]
    .map { "rejoin + \($0)" }
  private let dropping = ["rejoin + rollback", "rejoin + serverWins"]

  /// Counters and sets are edits in a context, too, and never conflict.
  private var exact: [String] {
    operations + rejoin + writing + keepingTheStore + dropping
      + ["rejoin + error", "rejoin + overwrite"]
  }

  @Test func steps() throws {
    // A column is compared by the number of its writes, then by its value.
    let later = perField.filter { $0 != "columnVersion" }
    try check(
      .steps,
      [
        (
          "steps 5,800", "1,200 counter units",
          wholeRecord + replacing + later + mineFirst
        ),
        (
          "steps 6,200", "800 counter units",
          storeFirst + allOrNothing + ["columnVersion", "pendingChanges"]
        ),
        (
          "phone: steps 6,200 — watch: steps 5,800",
          "1,200 counter units, never agree", refused
        ),
        ("steps 7,000", "nothing", exact),
      ])
  }

  @Test func stock() throws {
    let others = Strategies.all.map(\.name)
      .filter { !exact.contains($0) && !refused.contains($0) }
    try check(
      .stock,
      [
        ("stock 2", "1 counter unit", others), ("stock 1", "nothing", exact),
        // They show the same by chance: the second has not been told of the first.
        (
          "till1: stock 2 — till2: stock 2", "1 counter unit, never agree",
          refused
        ),
      ])
  }

  @Test func person() throws {
    let (swift, jones) = (#"name "Taylor Swift""#, #"name "Taylor Jones""#)
    let (main, sesame) = (#""123 Main St""#, #""123 Sesame St""#)
    let (mine, store) = (#""1-800-275-2273""#, #""(650) 253-0000""#)
    func ends(_ address: String, _ name: String, _ phone: String) -> String {
      "address \(address), \(name), phone \(phone)"
    }
    let lastWrites = ends(sesame, jones, mine)
    try check(
      .person,
      [
        (
          ends(main, jones, mine), "1 excess, 2 unrecoverable",
          wholeRecord + replacing
        ),
        (
          ends(main, jones, mine), "1 excess, 2 only reported",
          ["rejoin + overwrite"]
        ),
        (
          ends(sesame, swift, store), "1 excess, 2 unrecoverable",
          allOrNothing
        ),
        (ends(sesame, swift, store), "1 excess", ["pendingChanges"]),
        (ends(sesame, swift, store), "1 excess, 2 only reported", dropping),
        (lastWrites, "1 unrecoverable", perField + mineFirst),
        (
          lastWrites, "1 only reported",
          ["rejoin + mergeByPropertyObjectTrump", "rejoin + lastWriteWins"]
        ),
        (
          lastWrites, "nothing",
          rejoin + [
            "appendOnlyEntries", "handler.threeWay", "rejoin + merge",
            "rejoin + mergeNonNil",
          ]
        ),
        (ends(sesame, jones, store), "1 unrecoverable", storeFirst),
        (
          ends(sesame, jones, store), "1 only reported",
          ["rejoin + mergeByPropertyStoreTrump"]
        ),
        (
          ends(sesame, jones, store), "nothing",
          ["rejoin + manual", "automergeLike"]
        ),
        (
          "there: \(ends(sesame, swift, store)) — "
            + "here: \(ends(main, jones, mine))",
          "1 excess, 2 only reported, never agree",
          refused + ["rejoin + error"]
        ),
      ])
  }

  @Test func document() throws {
    let old = "\"as it was\""
    func ends(_ third: String, _ seventeenth: String) -> String {
      "attribute17 \(seventeenth), attribute3 \(third)"
    }
    try check(
      .document,
      [
        (
          ends(old, "\"yours\""), "1 excess, 1 unrecoverable",
          wholeRecord + replacing
        ),
        (
          ends(old, "\"yours\""), "1 excess, 1 only reported",
          ["rejoin + overwrite"]
        ),
        (ends("\"mine\"", old), "1 excess, 1 unrecoverable", allOrNothing),
        (ends("\"mine\"", old), "1 excess, 1 only reported", dropping),
        (ends("\"mine\"", old), "1 excess", ["pendingChanges"]),
        (
          ends("\"mine\"", "\"yours\""), "nothing",
          perField + storeFirst + mineFirst + operations + rejoin + writing
            + keepingTheStore
        ),
        (
          "tablet: \(ends("\"mine\"", old)) — "
            + "phone: \(ends(old, "\"yours\""))",
          "1 excess, 1 only reported, never agree",
          refused + ["rejoin + error"]
        ),
      ])
  }

  /// A mirrored store has no unique attributes: two insertions are two objects.
  @Test func expensiveField() throws {
    let (photo, none) = (#"photo "four megabytes""#, "photo unset")
    let title = #"title "Holiday""#
    try check(
      .expensiveField,
      [
        ("\(none), \(title)", "1 excess, 1 unrecoverable", wholeRecord),
        (
          "\(none), \(title)", "1 excess, 1 only reported",
          ["rejoin + overwrite"]
        ),
        (
          "\(photo), \(title)", "nothing",
          perField + storeFirst + allOrNothing + mineFirst + replacing
            + operations + rejoin + writing + keepingTheStore + dropping
            + ["container.error", "pendingChanges"]
        ),
        (
          "tablet: \(photo), \(title) — phone: \(none), \(title)",
          "1 excess, 1 only reported, never agree", ["ifServerRecordUnchanged"]
        ),
        // The replica has the photo; the context that could not save shows none.
        (
          "tablet: \(photo), \(title) — phone: \(none), \(title)",
          "1 excess, never agree", ["rejoin + error"]
        ),
      ])
  }

  @Test func tags() throws {
    let (phone, tablet) = (
      #"tags ["draft", "sea", "sunny"]"#, #"tags ["sea"]"#
    )
    try check(
      .tags,
      [
        (
          tablet, "1 add lost",
          wholeRecord + replacing + perField + mineFirst
        ),
        (
          phone, "1 remove undone",
          storeFirst + allOrNothing + ["pendingChanges"]
        ),
        (#"tags ["sea", "sunny"]"#, "nothing", exact),
        (
          "phone: \(phone) — tablet: \(tablet)",
          "1 add lost, 1 remove undone, never agree", refused
        ),
      ])
  }

  /// CloudKit's deletion takes an ID and no tag, and is never refused.
  @Test func deletion() throws {
    try check(
      .deletion,
      [
        (
          "no record", "1 excess, 1 unrecoverable, 1 record wrong",
          wholeRecord + replacing + perField + mineFirst
            + ["ifServerRecordUnchanged", "automergeLike"]
        ),
        (
          "no record", "1 excess, 1 record wrong",
          [
            "appendOnlyEntries", "rejoin.deleteWins", "rejoin + overwrite",
            "rejoin + mergeByPropertyObjectTrump", "rejoin + mergeNonNil",
            "rejoin + lastWriteWins",
          ]
        ),
        (
          #"note "new""#, "nothing",
          storeFirst + allOrNothing + keepingTheStore + dropping
            + [
              "handler.threeWay", "pendingChanges", "rejoin + merge", "rejoin",
            ]
        ),
        (
          #"phone: note "new" — tablet: no record"#,
          "1 excess, 1 only reported, 1 record wrong, never agree",
          ["container.error"]
        ),
        (
          #"phone: note "new" — tablet: no record"#,
          "1 excess, 1 record wrong, never agree", ["rejoin + error"]
        ),
      ])
  }

  /// Under the other rule, who keeps the deletion has lost nothing.
  @Test func deletionIfDeletionsWin() throws {
    let episode = WorkedExample.deletion.episode
    let oracle = Oracle(episode, deletion: .deleteWins)
    for strategy in Strategies.all {
      let outcome = try strategy.outcome(of: episode)
      let hasRecord = outcome.states.contains { $0 != nil }
      #expect(
        oracle.verdict(on: outcome).losses.isZero != hasRecord,
        "\(strategy.name)")
    }
  }
}
