// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Rejoin

/// Undos of counters and ledgers with numbers that no save gives them.
@Suite struct RefusedSumTests: UndoText {
  @Test func decodingRefusesAmountThatNoSaveMakes() throws {
    let text = undo(change(count, of: field(.counter)))
    let most = "18446744073709551615"
    for amount in ["0", most, "-\(most)"] {
      try read(text.replacing("-7", with: amount))
    }
    for wrong in [
      "+7", "-07", "-0", "", "7.0", "a", "18446744073709551616",
      "-18446744073709551616", "-170141183460469231731687303715884105728",
    ] {
      try expect(
        text, refusing: "-7", as: wrong, because: "must be in decimal digits")
    }
  }

  @Test func decodingRefusesSumThatNoChangesHave() throws {
    let reason = "must be the sum of so many"
    let counter = undo(change(count, of: field(.counter)))
    let ledger = undo(change(entries, of: field(.ledger)))
    // Without an earlier cancellation, the bound is half of the one below.
    try expect(
      counter.replacing(#""before":2"#, with: #""before":0"#)
        .replacing(#""12""#, with: #""\#(UInt64.max)""#),
      refusing: "\(UInt64.max)", as: "18446744073709551616", because: reason)
    // The limits are twice UInt64.max, and six amounts of 2⁶³, with the amounts
    // before the save.
    let bounds = [
      (counter, "36893488147419103230", "36893488147419103231"),
      (ledger, "55340232221128654848", "55340232221128654849"),
    ]
    for (text, most, more) in bounds {
      try read(text.replacing(#""12""#, with: #""-\#(most)""#))
      for wrong in [more, "-" + more, "+1", "01", ""] {
        try expect(
          text, refusing: #""12""#, as: #""\#(wrong)""#, because: reason)
      }
      try expect(text, refusing: #","sum":"12""#, as: "", because: reason)
      for (part, wrong) in [
        (#""before":2"#, #""before":5"#), (#""latest":6"#, #""latest":3"#),
        (#""before":2,"after":4"#, #""before":0,"after":0"#),
      ] {
        try expect(text, refusing: part, as: wrong, because: reason)
      }
      // The number of cancelled changes stays, with another sum or none.
      let same = text.replacing(#""before":2"#, with: #""before":4"#)
      try expect(same, refusing: #""12""#, as: #""0""#, because: reason)
      try read(same.replacing(#","sum":"12""#, with: ""))
    }
    try expect(
      ledger, refusing: #""latest":6"#, as: #""latest":1099511627777"#,
      because: "at most 1099511627776 cancelled entries")
    try read(
      counter.replacing(#""latest":6"#, with: #""latest":\#(UInt64.max)"#))
  }

  @Test func sumsOfAllDevicesDoNotOverflow() {
    #expect([Int128]().isSummable && [.max, 0].isSummable)
    #expect([.max / 2, .min / 2].isSummable)
    #expect(![.min].isSummable && ![.max, 1].isSummable)
    #expect(![.max, -1].isSummable && ![.min, .min, .min].isSummable)
  }

  @Test func decodingRefusesUnsortedDevices() throws {
    let entry = String(cancelled.dropFirst().dropLast())
    let next = entry.replacing(
      DeviceID(1).hexadecimal, with: DeviceID(2).hexadecimal)
    for (content, kind) in [
      (count, .counter), (entries, .ledger),
    ]
      as [(String, FieldKind)]
    {
      let text = undo(
        change(content, of: field(kind))
      )
      .replacing(entry, with: "\(entry),\(next)")
      for wrong in ["\(next),\(entry)", "\(entry),\(entry)"] {
        try expect(
          text, refusing: "\(entry),\(next)", as: wrong,
          because: "must be sorted")
      }
    }
  }

  @Test func decodingRefusesEntryNumberedZero() throws {
    try expect(
      undo(change(entries, of: field(.ledger))), refusing: #""line":3"#,
      as: #""line":0"#, because: "must be numbered from one")
  }
}
