// SPDX-License-Identifier: Apache-2.0

// A shopping list in a file that syncs through a folder, such as that of a drive:
//
//     FolderSync FILE FOLDER [ITEM…]

import RejoinSync

struct Item: Entity {
  let title = register("title", of: String.self)
  let amount = counter("amount")
}

let arguments = CommandLine.arguments
guard arguments.count > 2 else {
  print("usage: FolderSync FILE FOLDER [ITEM…]")
  exit(2)
}
do {
  let store = try await ReplicaStore(at: arguments[1], schema: [Item.self])
  let route = SyncRoute(
    "folder", scope: "list", objects: FolderStorage(at: arguments[2]))
  let engine = SyncEngine(store, routes: [route])

  try await store.save { transaction in
    for title in arguments.dropFirst(3) {
      // Two devices that add one item mean the same record, so its key is the title.
      transaction[Item.self, title].title = title
      transaction[Item.self, title].amount.increment()
    }
  }

  let status = await engine.sync()[0]
  for item in await store.read({ $0.records(of: Item.self) }) {
    print(item.amount, item.title ?? item.id)
  }
  print(status.isUploaded ? "uploaded" : "\(status.unsentSaves) to upload")
  if let problem = status.problem {
    print(problem)
    exit(1)
  }
} catch {
  print(error)
  exit(1)
}
