// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Rejoin

/// Undos of counters and ledgers with numbers that no save gives them.
@Suite struct RefusedSumTests: UndoText {
  @Test func decodingRefusesSumThatNoChangesHave() throws {
    let reason = "must be an integer"
    for (content, kind) in [(count, .counter), (entries, .ledger)]
      as [(String, FieldKind)]
    {
      let text = undo(change(content, of: field(kind)))
      for wrong in ["+1", "01", "-0", "", "7.0", "a", "\(WideInt.max)0"] {
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
      try read(
        text.replacing(#""latest":6"#, with: #""latest":\#(UInt64.max)"#))
      try expect(
        text, refusing: #""12""#, as: #""\#(WideInt.min)""#,
        because: "at most 127 bits")
    }
  }

  @Test func sumsOfAllDevicesDoNotOverflow() {
    #expect([WideInt]().isSummable && [.max, 0].isSummable)
    let half = WideInt(high: .max / 2, low: .max)
    #expect([half, -half].isSummable)
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

  @Test func decodingRefusesChangeNumberedZero() throws {
    try expect(
      undo(change(count, of: field(.counter))), refusing: #""first":2"#,
      as: #""first":0"#, because: "must be numbered from one")
    try expect(
      undo(change(entries, of: field(.ledger))), refusing: #""first":3"#,
      as: #""first":0"#, because: "must be numbered from one")
  }
}
