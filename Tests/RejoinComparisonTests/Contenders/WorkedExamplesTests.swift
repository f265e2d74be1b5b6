// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

/// The results of every strategy for each worked example.
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
  private let lastToArrive = ["recordByServerTime", "container.savedByRecord"]
  private var wholeRecord: [String] {
    lastToArrive + ["recordByDeviceTime", "CKSyncEngine sample"]
  }
  private let replacing = ["allKeys", "container.overwrite"]
  private let changedFields = ["changedKeys", "container.savedByProperty"]
  private var perField: [String] {
    changedFields + [
      "fieldByTime", "fieldByTime.ownOnTies", "recordPerAttribute",
      "columnVersion",
    ]
  }
  private let operations = [
    "appendOnlyEntries", "automergeLike", "handler.threeWay",
  ]
  /// Strategies with timestamps per register, and with deltas for counters and
  /// sets.
  private let timestamp = ["timestampThenVectorClock"]
  private let rejoin = ["rejoin", "rejoin.deleteWins"]
  /// Policies that write the edited fields.
  ///
  /// The next ones may drop edits.
  private let writing = [
    "mergeByPropertyObjectTrump", "mergeNonNil", "lastWriteWins", "merge",
  ].map { "rejoin + \($0)" }
  private let keepingTheStore = ["mergeByPropertyStoreTrump", "manual"]
    .map { "rejoin + \($0)" }
  private let dropping = ["rejoin + rollback", "rejoin + serverWins"]

  /// Counters and sets are edits in a context and never conflict.
  private var exact: [String] {
    operations + timestamp + rejoin + writing + keepingTheStore + dropping
      + ["rejoin + error", "rejoin + overwrite"]
  }

  @Test func steps() throws {
    // A column is compared by the number of its writes, then by its value.
    let later = perField.filter { $0 != "columnVersion" }
    try check(
      .steps,
      [
        (
          "steps 5,800", "1 change, 1,200 from a counter",
          wholeRecord + replacing + later + mineFirst
        ),
        (
          "steps 6,200", "1 change, 800 from a counter",
          storeFirst + allOrNothing + ["columnVersion"]
        ),
        // The copy of the watch is listed, and shows its 800 steps.
        ("steps 6,200", "800 from a counter", ["pendingChanges"]),
        (
          "phone: steps 6,200 — watch: steps 5,800",
          "nothing; 1 waiting on a blocked device", refused
        ),
        ("steps 7,000", "nothing", exact),
      ])
  }

  @Test func stock() throws {
    let others = Strategies.all.map(\.name).filter {
      !exact.contains($0) && !refused.contains($0) && $0 != "pendingChanges"
    }
    try check(
      .stock,
      [
        ("stock 2", "1 change, 1 from a counter", others),
        ("stock 2", "1 from a counter", ["pendingChanges"]),
        ("stock 1", "nothing", exact),
        // The counts are equal by coincidence. The second till did not receive
        // the first sale.
        (
          "till1: stock 2 — till2: stock 2",
          "nothing; 1 waiting on a blocked device", refused
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
        (ends(main, jones, mine), "2 changes", wholeRecord + replacing),
        (
          ends(main, jones, mine), "2 changes (reported)",
          ["rejoin + overwrite"]
        ),
        (ends(sesame, swift, store), "2 changes", allOrNothing),
        (ends(sesame, swift, store), "nothing", ["pendingChanges"]),
        (ends(sesame, swift, store), "2 changes (reported)", dropping),
        (lastWrites, "1 change", perField + timestamp + mineFirst),
        (
          lastWrites, "1 change (reported)",
          ["rejoin + mergeByPropertyObjectTrump", "rejoin + lastWriteWins"]
        ),
        (
          lastWrites, "nothing",
          rejoin + [
            "appendOnlyEntries", "handler.threeWay", "rejoin + merge",
            "rejoin + mergeNonNil",
          ]
        ),
        (ends(sesame, jones, store), "1 change", storeFirst),
        (
          ends(sesame, jones, store), "1 change (reported)",
          ["rejoin + mergeByPropertyStoreTrump"]
        ),
        (
          ends(sesame, jones, store), "nothing",
          ["rejoin + manual", "automergeLike"]
        ),
        (
          "there: \(ends(sesame, swift, store)) — "
            + "here: \(ends(main, jones, mine))",
          "nothing; 2 waiting on a blocked device",
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
        (ends(old, "\"yours\""), "1 change", wholeRecord + replacing),
        (
          ends(old, "\"yours\""), "1 change (reported)",
          ["rejoin + overwrite"]
        ),
        (ends("\"mine\"", old), "1 change", allOrNothing),
        (ends("\"mine\"", old), "1 change (reported)", dropping),
        (ends("\"mine\"", old), "nothing", ["pendingChanges"]),
        (
          ends("\"mine\"", "\"yours\""), "nothing",
          perField + timestamp + storeFirst + mineFirst + operations + rejoin
            + writing + keepingTheStore
        ),
        (
          "tablet: \(ends("\"mine\"", old)) — "
            + "phone: \(ends(old, "\"yours\""))",
          "nothing; 1 waiting on a blocked device",
          refused + ["rejoin + error"]
        ),
      ])
  }

  /// A mirrored store has no unique attributes, so two insertions create two
  /// objects.
  @Test func expensiveField() throws {
    let (photo, none) = (#"photo "four megabytes""#, "photo unset")
    let title = #"title "Holiday""#
    try check(
      .expensiveField,
      [
        ("\(none), \(title)", "1 change", wholeRecord),
        ("\(none), \(title)", "1 change (reported)", ["rejoin + overwrite"]),
        (
          "\(photo), \(title)", "nothing",
          perField + timestamp + storeFirst + allOrNothing + mineFirst
            + replacing + operations + rejoin + writing + keepingTheStore
            + dropping + ["container.error", "pendingChanges"]
        ),
        (
          "tablet: \(photo), \(title) — phone: \(none), \(title)",
          "nothing; 1 waiting on a blocked device",
          ["ifServerRecordUnchanged", "rejoin + error"]
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
        (tablet, "1 change", wholeRecord + replacing + perField + mineFirst),
        (phone, "1 change", storeFirst + allOrNothing),
        // The tablet's copy is listed, and shows its removal.
        (phone, "nothing", ["pendingChanges"]),
        (#"tags ["sea", "sunny"]"#, "nothing", exact),
        (
          "phone: \(phone) — tablet: \(tablet)",
          "nothing; 1 waiting on a blocked device", refused
        ),
      ])
  }

  private let gone = "1 base value, the existence of the record"

  /// CloudKit's deletion takes an ID and no tag, and the server never refuses it.
  @Test func deletion() throws {
    try check(
      .deletion,
      [
        (
          "no record", "1 change, \(gone)",
          wholeRecord + replacing + perField + timestamp + mineFirst
            + [
              "ifServerRecordUnchanged", "automergeLike", "appendOnlyEntries",
              "rejoin.deleteWins",
            ]
        ),
        (
          "no record", "1 change (reported), \(gone)",
          [
            "rejoin + overwrite", "rejoin + mergeByPropertyObjectTrump",
            "rejoin + mergeNonNil", "rejoin + lastWriteWins",
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
          "nothing; the devices disagree",
          ["container.error", "rejoin + error"]
        ),
      ])
  }

  /// A client that finds no record on the server saves its whole copy.
  @Test func deletionFirst() throws {
    try check(
      .deletionFirst,
      [
        (
          #"note "new""#, "nothing",
          lastToArrive + ["CKSyncEngine sample"] + replacing + changedFields
            + mineFirst + writing
            + [
              "handler.threeWay", "pendingChanges", "rejoin + overwrite",
              "rejoin",
            ]
        ),
        // The deletion has the later time, or counts more.
        (
          "no record", "1 change, \(gone)",
          [
            "recordByDeviceTime", "fieldByTime", "fieldByTime.ownOnTies",
            "recordPerAttribute", "columnVersion", "automergeLike",
            "appendOnlyEntries",
            "rejoin.deleteWins",
          ] + timestamp + storeFirst + allOrNothing
        ),
        (
          "no record", "1 change (reported), \(gone)",
          ["rejoin + mergeByPropertyStoreTrump", "rejoin + manual"] + dropping
        ),
        (
          #"tablet: no record — phone: note "new""#,
          "nothing; 1 waiting on a blocked device",
          refused + ["rejoin + error"]
        ),
      ])
  }

  /// Under the other rule, a strategy that keeps the deletion loses nothing.
  @Test(arguments: [WorkedExample.deletion, .deletionFirst])
  func deletionIfDeletionsWin(example: WorkedExample) throws {
    let oracle = Oracle(example.episode, deletion: .deleteWins)
    for strategy in Strategies.all {
      let outcome = try strategy.outcome(of: example.episode)
      let hasRecord = outcome.states.enumerated().contains { index, state in
        state != nil
          && (outcome.states.count == 1
            || !outcome.waiting.contains(example.episode.devices[index]))
      }
      // The server did not receive a blocked deletion.
      let isBlocked = outcome.waiting.contains("tablet")
      #expect(
        oracle.verdict(on: outcome).losses.isLossless
          == (!hasRecord || isBlocked), "\(strategy.name)")
    }
  }
}
