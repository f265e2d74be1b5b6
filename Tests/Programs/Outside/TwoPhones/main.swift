// SPDX-License-Identifier: Apache-2.0

// Two phones in one process edit a note offline, and resolve a conflict:
//
//     TwoPhones FOLDER

import RejoinSync

struct Note: Entity {
  let title = register("title", of: String.self)
  let likes = counter("likes")
}

let folder = CommandLine.arguments.dropFirst().first ?? "."

func openPhone(_ name: String) async throws -> ReplicaStore {
  try await ReplicaStore(at: "\(folder)/\(name).sqlite", schema: [Note.self])
}

let blue = try await openPhone("blue")
let green = try await openPhone("green")

// Any connection can carry the requests. Here, a call does.
func syncPhones() async throws {
  try await blue.sync(scope: "notes") { request in
    await green.answer(request, scope: "notes")
  }
}

func show(_ title: String) async {
  print(title)
  for (name, phone) in [("blue", blue), ("green", green)] {
    guard let note = await phone.read({ $0[Note.self, "milk"] }) else {
      continue
    }
    let others = note.conflictingValues(of: \.title).compactMap(\.self)
    print(" ", name, note.title ?? "untitled", note.likes, others)
  }
}

// Both phones are offline.
try await blue.save { transaction in
  transaction[Note.self, "milk"].title = "Whole milk"
  transaction[Note.self, "milk"].likes.increment()
}
try await green.save { transaction in
  transaction[Note.self, "milk"].title = "Oat milk"
  transaction[Note.self, "milk"].likes.increment()
}
await show("Offline:")

try await syncPhones()
await show("After a sync, both likes count, and the titles are a conflict:")

// A write replaces the titles that its phone shows or lists.
try await blue.save { $0[Note.self, "milk"].title = "Oat milk, 1 l" }
try await syncPhones()
await show("After the user chose a title on one phone:")
