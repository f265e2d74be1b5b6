// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinTesting
import Testing

/// A card whose merge replaces one part.
private struct ForgetfulCard: Lattice, Hashable {
  var card = Card()
  let part: Int

  init(_ part: Int) { self.part = part }

  mutating func merge(_ other: ForgetfulCard) {
    card.merge(other.card)
    switch part {
    case 0: card.name = other.card.name
    case 1: card.likes = other.card.likes
    default: card.tags = other.card.tags
    }
  }
}

/// Compiles the examples of the article and checks their output.
@Suite struct CardExampleTests {
  @Test(arguments: ["CardExample", "CardBytesExample"])
  func articleContainsExample(_ name: String) throws {
    let example = try text("Tests/RejoinTestingTests/Laws/\(name).swift")
    let code = try #require(example.range(of: "import "))
    #expect(try article().contains(example[code.lowerBound...]))
  }

  /// The laws of three types take five lines.
  @Test func lawsTakeFiveLines() throws {
    let example = try text("Tests/RejoinTestingTests/Laws/CardExample.swift")
    let test = try #require(example.range(of: "  try checkLaws"))
    let lines = example[test.lowerBound...].split(separator: "\n")
    #expect(lines.count == 5 + 1)
  }

  /// The changes of the example check every part of a card.
  @Test(arguments: 0..<3)
  func checkDetectsForgottenPart(part: Int) {
    let failure = failure { seeds throws(LawFailure) in
      try checkLaws(from: ForgetfulCard(part), seeds: seeds) {
        state, me, random in
        var delta = ForgetfulCard(part)
        let name = state.card.name.write("Ada", on: me, at: random.timestamp())
        let tags = state.card.tags.insert(random.pick(["a", "b"]), on: me)
        let likes = try state.card.likes.increment(on: me)
        delta.card = Card(name: name, likes: likes, tags: tags)
        return delta
      }
    }
    #expect(failure != nil)
  }

  @Test func articleContainsFailure() throws {
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
