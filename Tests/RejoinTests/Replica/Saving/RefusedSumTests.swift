// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Rejoin

/// Undos of counters and ledgers with numbers that no save writes.
@Suite struct RefusedSumTests: UndoText {
  private var kinds: [(content: String, kind: FieldKind)] {
    [(count, .counter), (entries, .ledger)]
  }

  @Test func decodingRefusesInvalidDecision() throws {
    for (content, kind) in kinds {
      let text = undo(change(content, of: field(kind)))
      for wrong in ["+1", "01", "-0", "", "7.0", "a", "\(WideInt.max)0"] {
        try expect(
          text, refusing: #""12""#, as: #""\#(wrong)""#,
          because: "must be an integer")
      }
      for (part, wrong) in [
        (#""decided":4"#, #""decided":0"#),
        (#""canceled":3"#, #""canceled":5"#),
        (#""canceled":3"#, #""canceled":0"#), (#""turns":1"#, #""turns":0"#),
      ] {
        try expect(
          text, refusing: part, as: wrong,
          because: "\"canceled\" must equal it")
      }
      try read(text.replacing(#""before":\#(before),"#, with: ""))
    }
  }

  @Test func decodingRefusesDecisionsOutOfOrder() throws {
    for (content, kind) in kinds {
      let text = undo(change(content, of: field(kind)))
      for wrong in [
        after, #"{"decided":5,"turns":0,"canceled":5,"sum":"0"}"#,
        #"{"decided":4,"turns":2,"canceled":0,"sum":"0"}"#,
      ] {
        try expect(
          text, refusing: before, as: wrong, because: "must be a later decision"
        )
      }
    }
  }

  @Test func decodingRefusesSumOutOfRange() throws {
    let (two, three) = ("18446744073709551616", "27670116110564327424")
    for (kind, content, sums) in [
      (
        FieldKind.counter, count,
        ["18446744073709551615", "18446744073709551615"]
      ),
      (.ledger, entries, [two, three]),
    ] {
      let accepted = undo(change(content, of: field(kind)))
        .replacing(#""5""#, with: #""\#(sums[0])""#)
        .replacing(#""12""#, with: #""-\#(sums[1])""#)
      for sum in sums {
        let more = String(sum.dropLast()) + "9"
        try expect(
          accepted, refusing: sum, as: more, because: "within the range")
      }
    }
  }

  @Test func decodingRefusesUnsortedDevices() throws {
    let entry = String(decisions.dropFirst().dropLast())
    let next = entry.replacing(
      DeviceID(1).hexadecimal, with: DeviceID(2).hexadecimal)
    for (content, kind) in kinds {
      let text = undo(change(content, of: field(kind)))
        .replacing(entry, with: "\(entry),\(next)")
      for wrong in ["\(next),\(entry)", "\(entry),\(entry)"] {
        try expect(
          text, refusing: "\(entry),\(next)", as: wrong,
          because: "must be sorted")
      }
    }
  }

  @Test func decodingRefusesChangeNumberedZero() throws {
    try expect(
      undo(change(count, of: field(.counter))), refusing: #""first":2"#,
      as: #""first":0"#, because: "must be numbered from one")
    try expect(
      undo(change(entries, of: field(.ledger))), refusing: #""first":3"#,
      as: #""first":0"#, because: "must be numbered from one")
  }
}
