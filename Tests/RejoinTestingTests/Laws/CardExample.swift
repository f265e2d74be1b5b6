// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting
import Testing

struct Card: Lattice, Hashable, Codable {
  var name = MVRegister<String>()
  var likes = PNCounter()
  var tags = ORSet<String>()

  mutating func merge(_ other: Card) {
    name.merge(other.name)
    likes.merge(other.likes)
    tags.merge(other.tags)
  }
}

@Test func cardKeepsLaws() throws {
  try checkLaws(from: Card()) { card, me, random in
    let name = card.name.write("Ada", on: me, at: random.timestamp())
    let tags = card.tags.insert(random.pick(["a", "b"]), on: me)
    return try Card(name: name, likes: card.likes.increment(on: me), tags: tags)
  }
}
