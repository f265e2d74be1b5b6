// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Rejoin

/// Encoded undos that no save creates.
///
/// Each test changes an accepted undo.
@Suite struct RefusedUndoTests: UndoText {
  @Test func decodingRefusesChangeOfAnotherKind() throws {
    let places = [
      (field(.register), write), (field(.set) + element, mark),
      (field(.counter), count), (field(.ledger), entries), ("", existence),
    ]
    let contents = [
      write: "siblings", mark: "siblings", count: "sums", entries: "sums",
      existence: "existence",
    ]
    for (place, own) in places {
      for (other, name) in contents where name != contents[own] {
        try expect(
          undo(change(own, of: place)), refusing: own, as: other,
          because: "must have \"siblings\" alone")
        try expect(
          undo(change(own, of: place)), refusing: own, as: "\(own),\(other)",
          because: "must have \"siblings\" alone")
      }
      try expect(
        undo(change(own, of: place)), refusing: "," + own, as: "",
        because: "must have \"siblings\" alone")
    }
  }

  @Test func decodingRefusesElementOfRegisterAndSetWithoutElement() throws {
    let reason = "if its field is a set"
    let register = undo(change(write, of: field(.register)))
    try expect(
      register, refusing: #""save""#, as: element + #""save""#, because: reason)
    try expect(
      undo(change(existence)), refusing: #""save""#, as: element + #""save""#,
      because: reason)
    try expect(
      undo(change(mark, of: field(.set) + element)), refusing: element, as: "",
      because: reason)
  }

  @Test func decodingRefusesUnsortedDeletions() throws {
    let outlived = #""wasFinal":false,"outlived":[\#(one),\#(two)]"#
    let accepted = undo(
      change(
        existence.replacing(#""wasFinal":false"#, with: outlived)))
    for wrong in [
      "[\(two),\(one)]", "[\(one),\(one)]", "[\(zero),\(two)]", "[]",
    ] {
      try expect(
        accepted, refusing: "[\(one),\(two)]", as: wrong,
        because: "Deletions must be sorted")
    }
  }

  @Test func decodingRefusesNamesOfInvalidLength() throws {
    let long = String(repeating: "e", count: Limits.nameBytes)
    try expect(
      undo(change(existence, in: long)), refusing: long, as: long + "e",
      because: "at most 255 bytes")
    try expect(
      undo(change(write, of: field(.register, long))), refusing: long,
      as: long + "e", because: "255 bytes")
    try expect(
      undo(change(write, of: field(.register))), refusing: #""name":"f""#,
      as: #""name":"""#, because: "255 bytes")
  }

  @Test func decodingRefusesSaveNumberedZero() throws {
    let reason = "numbered from one"
    let text = undo(change(write, of: field(.register)))
    for (part, dot) in [
      (#""dot":"#, two), (#""undone":"#, one), (#""digest":9,"dot":"#, two),
      (#"before":{"dot":"#, one),
    ] {
      try expect(text, refusing: part + dot, as: part + zero, because: reason)
    }
    try expect(
      text, refusing: #""beside":[]"#, as: #""beside":[\#(zero)]"#,
      because: reason)
  }

  @Test func decodingRefusesUnsortedDots() throws {
    let text = undo(change(write, of: field(.register)))
      .replacing(#""beside":[]"#, with: #""beside":[\#(one),\#(two)]"#)
    for wrong in ["\(two),\(one)", "\(one),\(one)"] {
      try expect(
        text, refusing: "\(one),\(two)", as: wrong, because: "must be sorted")
    }
  }

  @Test func decodingRefusesUnsortedChanges() throws {
    let a = change(write, of: field(.register, "a"))
    let b = change(write, of: field(.register, "b"))
    for wrong in ["\(b),\(a)", "\(a),\(a)"] {
      try expect(
        undo(a, b), refusing: "\(a),\(b)", as: wrong, because: "must be sorted")
    }
    // Elements are the last part of the order.
    let x = change(mark, of: field(.set) + element)
    let y = x.replacing(#"{"int":1},"save""#, with: #"{"int":2},"save""#)
    for wrong in ["\(y),\(x)", "\(x),\(x)"] {
      try expect(
        undo(x, y), refusing: "\(x),\(y)", as: wrong, because: "must be sorted")
    }
    let later = change(existence, in: "F")
    try expect(
      undo(a, later), refusing: "\(a),\(later)", as: "\(later),\(a)",
      because: "must be sorted")
  }

  @Test func decodingRefusesDotWithoutChanges() throws {
    let reason = "must have a dot if it has changes"
    let text = undo(change(existence))
    try expect(text, refusing: #""dot":\#(two),"#, as: "", because: reason)
    try expect(text, refusing: change(existence), as: "", because: reason)
    try read(#"{"changes":[],"undone":\#(one)}"#)
  }

  @Test func decodingRefusesChangeWithoutEffect() throws {
    let before = #""before":{"dot":\#(one),"value":{"bool":true}},"#
    try expect(
      undo(change(mark, of: field(.set) + element)), refusing: before, as: "",
      because: "must have superseded something")
  }

  @Test func decodingRefusesWriteWithoutTimeOrDot() throws {
    let text = undo(change(write, of: field(.register)))
    let (dot, time) = (#""dot":\#(one),"#, #""time":5,"#)
    for part in [dot, time] {
      try expect(
        text, refusing: dot + time, as: part,
        because: "must have a time and a dot")
    }
  }

  @Test func decodingRefusesInvalidMark() throws {
    let (value, reason) = (#"{"bool":true}"#, "must be `true`")
    let text = undo(change(mark, of: field(.set) + element))
    for wrong in [#"{"int":1}"#, #"{"null":true}"#, #"{"bool":false}"#] {
      try expect(text, refusing: value, as: wrong, because: reason)
    }
    try expect(text, refusing: #","value":\#(value)"#, as: "", because: reason)
    try expect(
      text, refusing: #","value""#, as: #","time":0,"value""#, because: reason)
  }

  @Test func decodingRefusesExistenceWithoutItsSave() throws {
    let text = undo(change(existence))
    for (part, wrong) in [
      (#""before":1"#, #""before":2"#), (#""after":2"#, #""after":1"#),
    ] {
      try expect(
        text, refusing: part, as: wrong, because: "must follow")
    }
  }

  @Test func decodingRefusesHistoryOfSavesWithoutChanges() throws {
    let save = undo(change(existence))
    let text = #"{"done":[\#(save)],"undone":[\#(save)]}"#
    for part in [#""done":["#, #""undone":["#] {
      try expect(
        text, refusing: part + save,
        as: part + #"{"changes":[],"undone":\#(one)}"#,
        because: "must have changes", reading: UndoHistory.self)
    }
    let name = #","undone":\#(one)"#
    try read(
      text.replacing(name, with: "", maxReplacements: 1), UndoHistory.self)
    try expect(
      text, refusing: #""undone":[\#(save)]"#,
      as: #""undone":[\#(save.replacing(name, with: ""))]"#,
      because: "must name the save that it has undone",
      reading: UndoHistory.self)
  }
}
