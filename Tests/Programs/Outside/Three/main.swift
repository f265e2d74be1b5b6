// SPDX-License-Identifier: Apache-2.0

// Three devices that sync with a server:
//
//     three FOLDER URL

import RejoinSync

struct Item: Entity {
  let title = register("title", of: String.self)
}

func openDevice(_ name: String) async throws -> (ReplicaStore, SyncEngine) {
  let path = "\(CommandLine.arguments[1])/\(name).sqlite"
  let store = try await ReplicaStore(at: path, schema: [Item.self])
  let url = URL(string: CommandLine.arguments[2])!
  let route = SyncRoute.http("server", scope: "list-ada", url: url)
  return (store, SyncEngine(store, routes: [route]))
}

let (phone, phoneEngine) = try await openDevice("phone")
let (tablet, tabletEngine) = try await openDevice("tablet")
let (watch, watchEngine) = try await openDevice("watch")
try await phone.save { $0[Item.self, "1"].title = "Milk" }
try await tablet.save { $0[Item.self, "2"].title = "Rye" }
try await watch.save { $0[Item.self, "3"].title = "Tea" }
await phoneEngine.sync()
await tabletEngine.sync()
await watchEngine.sync()
let isSynced = await phoneEngine.sync().allSatisfy(\.isSynced)
let titles = await phone.read { $0.records(of: Item.self).compactMap(\.title) }
print(titles, isSynced)
