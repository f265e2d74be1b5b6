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

  private let storeFirst = [
    "changeTag.mergeByPropertyStoreTrump", "changeTag.manual",
    "pendingChanges",
  ]
  private let allOrNothing = ["changeTag.rollback", "changeTag.serverWins"]
  private let mineFirst = [
    "changeTag.mergeByPropertyObjectTrump", "changeTag.merge",
    "changeTag.mergeNonNil",
  ]
  private let wholeRecord = [
    "recordByServerTime", "recordByDeviceTime", "timestampThenVectorClock",
  ]
  private let replacing = ["allKeys", "changeTag.overwrite"]
  private let perField = ["changedKeys", "fieldByTime", "recordPerAttribute"]
  private let exact = [
    "appendOnlyEntries", "automergeLike", "handler.threeWay", "rejoin",
  ]

  @Test func steps() throws {
    try check(
      .steps,
      [
        (
          "steps 5,800", "1,200 counter units",
          wholeRecord + replacing + perField + mineFirst
        ),
        (
          "steps 6,200", "800 counter units",
          storeFirst + allOrNothing + ["columnVersion"]
        ),
        (
          "phone: steps 6,200 — watch: steps 5,800",
          "1,200 counter units, never agree", ["changeTag.error"]
        ),
        ("steps 7,000", "nothing", exact),
      ])
  }

  @Test func stock() throws {
    let others = Strategies.all.map(\.name).filter { !exact.contains($0) }
    try check(
      .stock,
      [("stock 2", "1 counter unit", others), ("stock 1", "nothing", exact)])
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
          ends(sesame, swift, store), "1 excess, 2 unrecoverable",
          allOrNothing
        ),
        (
          lastWrites, "1 unrecoverable",
          perField + [
            "changeTag.mergeByPropertyObjectTrump", "changeTag.mergeNonNil",
            "columnVersion",
          ]
        ),
        (
          lastWrites, "nothing",
          [
            "appendOnlyEntries", "changeTag.merge", "handler.threeWay",
            "rejoin",
          ]
        ),
        (
          ends(sesame, jones, store), "1 unrecoverable",
          ["changeTag.mergeByPropertyStoreTrump"]
        ),
        (
          ends(sesame, jones, store), "nothing",
          ["changeTag.manual", "pendingChanges", "automergeLike"]
        ),
        (
          "there: \(ends(sesame, swift, store)) — "
            + "here: \(ends(main, jones, mine))",
          "1 excess, never agree", ["changeTag.error"]
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
        (ends("\"mine\"", old), "1 excess, 1 unrecoverable", allOrNothing),
        (
          ends("\"mine\"", "\"yours\""), "nothing",
          perField + storeFirst + mineFirst + exact + ["columnVersion"]
        ),
        (
          "tablet: \(ends("\"mine\"", old)) — "
            + "phone: \(ends(old, "\"yours\""))",
          "1 excess, never agree", ["changeTag.error"]
        ),
      ])
  }

  @Test func expensiveField() throws {
    let (sea, hills) = (#"note "by the sea""#, #"note "in the hills""#)
    let (old, new) = (#"title "Holiday""#, #"title "Summer""#)
    try check(
      .expensiveField,
      [
        (
          "\(sea), photo unset, \(new)", "2 excess, 2 unrecoverable",
          wholeRecord
        ),
        ("\(sea), \(new)", "1 excess, 1 unrecoverable", replacing),
        ("\(hills), \(old)", "1 excess, 1 unrecoverable", allOrNothing),
        (
          "\(hills), \(new)", "nothing",
          perField + storeFirst + mineFirst + exact + ["columnVersion"]
        ),
        (
          "tablet: \(hills), \(old) — phone: \(sea), \(new)",
          "1 excess, never agree", ["changeTag.error"]
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
          wholeRecord + replacing + perField + mineFirst + ["columnVersion"]
        ),
        (phone, "1 remove undone", storeFirst + allOrNothing),
        (#"tags ["sea", "sunny"]"#, "nothing", exact),
        (
          "phone: \(phone) — tablet: \(tablet)",
          "1 add lost, 1 remove undone, never agree", ["changeTag.error"]
        ),
      ])
  }

  @Test func deletion() throws {
    try check(
      .deletion,
      [
        (
          "no record", "1 excess, 1 unrecoverable, 1 record wrong",
          wholeRecord + replacing + perField
            + [
              "changeTag.mergeByPropertyObjectTrump", "changeTag.mergeNonNil",
              "columnVersion", "automergeLike",
            ]
        ),
        (
          "no record", "1 excess, 1 record wrong",
          ["changeTag.merge", "appendOnlyEntries"]
        ),
        (
          #"note "new""#, "nothing",
          storeFirst + allOrNothing + ["handler.threeWay", "rejoin"]
        ),
        (
          #"phone: note "new" — tablet: no record"#,
          "1 excess, 1 record wrong, never agree", ["changeTag.error"]
        ),
      ])
  }
}
