// SPDX-License-Identifier: Apache-2.0

import RejoinStore
import _RejoinVerification

private struct Word: Entity {
  let text = register("text", of: String.self)
  let device = register("device", of: String.self)
}

private struct Tally: Entity {
  let words = counter("words")
  let last = register("last", of: String.self)
}

/// Adds words to a store that other devices change too, and prints each after its save.
///
/// The words of a device have consecutive numbers. Some saves also change a record of
/// all devices, and delete another one.
func addWords(_ path: String, device: String, count: Int) async throws {
  let store = try await ReplicaStore(
    at: path, schema: [Word.self, Tally.self])
  for _ in 0..<count {
    let (word, _) = try await store.save { transaction in
      let tally = transaction[Tally.self, device]
      tally.words.increment()
      let number = tally.words.value
      let word = "\(device) \(number)"
      transaction[Word.self, word].text = word
      transaction[Word.self, word].device = device
      transaction[Tally.self, "all"].words.increment()
      transaction[Tally.self, "all"].last = word
      if number % 3 == 0 {
        transaction.delete(RecordID("Word", "shared"))
      } else {
        transaction[Word.self, "shared"].device = device
      }
      return word
    }
    say(word)
  }
  try await store.close()
}

/// Prints the words of a store, the sum of the tallies, and a digest of all records.
func showWords(_ path: String) async throws {
  let store = try await ReplicaStore(
    at: path, schema: [Word.self, Tally.self])
  let (words, count, bytes) = await store.read { view in
    (
      view.records(of: Word.self).compactMap(\.text),
      view[Tally.self, "all"]?.words ?? 0, view.replica.delta()?.encoded() ?? []
    )
  }
  for word in words.sorted() { say(word) }
  if words.count != count { say("\(count) in the sum") }
  say("state \(bytes.withUnsafeBytes { WireChecksum.of($0) })")
  try await store.close()
}
