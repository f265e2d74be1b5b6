// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinTesting
import Testing

extension Card {
  struct NotCanonical: Error {}

  func encoded() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return Array(try encoder.encode(self))
  }

  init(decoding bytes: [UInt8]) throws {
    self = try JSONDecoder().decode(Card.self, from: Data(bytes))
    guard try encoded() == bytes else { throw NotCanonical() }
  }
}

@Test func cardKeepsLawsOfBytes() throws {
  try checkEncoding(
    from: Card(), encode: { try $0.encoded() },
    decode: { try Card(decoding: $0) }
  ) { card, device, random in
    let name = card.name.write("Ada", on: device, at: random.timestamp())
    let tags = card.tags.insert(random.pick(["a", "b"]), on: device)
    return Card(name: name, likes: card.likes.reset(), tags: tags)
  }
}
