//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Foundation
import Rejoin
import RejoinTesting
import Testing

/// The examples of the article are compiled and print what it says.
@Suite struct CardExampleTests {
  @Test(arguments: ["CardExample", "CardBytesExample"])
  func isAnExampleOfTheArticle(_ name: String) throws {
    let example = try text("Tests/RejoinTestingTests/Laws/\(name).swift")
    let code = try #require(example.range(of: "import "))
    #expect(try article().contains(example[code.lowerBound...]))
  }

  /// The laws of three types take five lines.
  @Test func takesFiveLines() throws {
    let example = try text("Tests/RejoinTestingTests/Laws/CardExample.swift")
    let test = try #require(example.range(of: "  try checkLaws"))
    let lines = example[test.lowerBound...].split(separator: "\n")
    #expect(lines.count == 5 + 1)
  }

  @Test func theFailureIsTheOneOfTheArticle() throws {
    let failure = failure { seeds throws(LawFailure) in
      try checkLattice(from: OrderedRegister(.clockFirst), seeds: seeds) {
        $0.change($1, &$2)
      }
    }
    let printed = try #require(failure?.description)
    #expect(
      try article().contains(
        printed.replacing("fault: clockFirst, ", with: "")))
  }

  private func article() throws -> String {
    try text(
      "Sources/RejoinTesting/RejoinTesting.docc/CheckingYourOwnLattice.md")
  }

  private func text(_ path: String) throws -> String {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    return try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }
}
