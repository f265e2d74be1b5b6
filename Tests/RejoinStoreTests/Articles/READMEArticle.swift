// SPDX-License-Identifier: Apache-2.0

// main.swift of a package that depends on RejoinSync. A second run prints 4000 Ada.
import RejoinSync
import Testing

struct Profile: Entity {
  let name = register("name", of: String.self)
  let steps = counter("steps")
}

@Suite struct READMEArticle {
  @Test func programPrintsItsResult() async {
    // A process of its own, with a current folder of its own.
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      #expect(FileManager.default.changeCurrentDirectoryPath(folder.path))
      let phone = try await ReplicaStore(
        at: "phone.sqlite", schema: [Profile.self])
      let tablet = try await ReplicaStore(
        at: "tablet.sqlite", schema: [Profile.self])
      // Both edit one record while they are offline.
      try await phone.save { $0[Profile.self, "ada"].steps.increment(by: 1200) }
      try await tablet.save { transaction in
        transaction[Profile.self, "ada"].steps.increment(by: 800)
        transaction[Profile.self, "ada"].name = "Ada"
      }
      // Any connection carries the bytes of a request, and those of the answer back.
      try await phone.sync(scope: "list") {
        await tablet.answer($0, scope: "list")
      }
      let ada = await phone.read { $0[Profile.self, "ada"] }
      print(ada?.steps ?? 0, ada?.name ?? "")  // 2000 Ada
      #expect(ada?.steps == 2000 && ada?.name == "Ada")
      let (here, there) = (
        try await phone.export { $0.delta() },
        try await tablet.export { $0.delta() }
      )
      #expect(here == there)
    }
  }

  @Test func engineSyncsOverRoutes() async throws {
    let home = try Folder()
    let (phone, tablet) = (
      try await ReplicaStore.inMemory(schema: [Profile.self]),
      try await ReplicaStore.inMemory(schema: [Profile.self])
    )
    let url = try #require(URL(string: "http://127.0.0.1:9/"))
    try await phone.save { $0[Profile.self, "ada"].name = "Ada" }
    let folder = home.path
    let engine = SyncEngine(
      phone,
      routes: [
        .http("server", scope: "list", url: url),
        SyncRoute("drive", scope: "list", objects: FolderStorage(at: folder)),
      ])
    await engine.start()  // sends each save, and tries again after errors
    await engine.sync()  // receives; call it when the app becomes active
    let statuses = await engine.sync()
    #expect(statuses.map(\.isUploaded) == [false, true])
    await engine.stop()
    let other = SyncEngine(
      tablet,
      routes: [
        SyncRoute("drive", scope: "list", objects: FolderStorage(at: folder))
      ])
    await other.sync()
    #expect(await tablet.read { $0[Profile.self, "ada"]?.name } == "Ada")
  }
}
