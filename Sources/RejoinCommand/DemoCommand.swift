// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinStore
import RejoinSync
import RejoinTesting

/// `rejoin demo` shows two devices that edit one record offline.
struct DemoCommand {
  static let command = Command(
    name: "demo",
    purpose: "show two devices that edit offline and end equal",
    usage: "[DIR]",
    discussion: """
      Two stores on SQLite edit one record offline and sync through a folder. The
      command prints what each device shows. With DIR, which must not exist, the
      stores stay there for `rejoin store` and `rejoin sync`.
      """,
    examples: ["demo", "demo steps"],
    run: { try await DemoCommand($0).run() })

  private struct Profile: Entity {
    let name = register("name", of: String.self)
    let steps = counter("steps")
  }

  /// A device with a store, and an engine that syncs it through the folder.
  private struct Device {
    let name: String
    let store: ReplicaStore
    let engine: SyncEngine

    init(_ name: String, _ id: UInt64, in folder: String) async throws {
      // The time and the IDs are fixed, so each run prints the same.
      let clock = ManualClock(1_767_225_600_000 + Int64(id) * 60_000)
      self.name = name
      store = try await ReplicaStore(
        at: "\(folder)/\(name).sqlite", schema: [Profile.self],
        wallClock: clock.wallClock, makeDeviceID: { DeviceID(id) })
      engine = SyncEngine(
        store,
        routes: [
          SyncRoute(
            "folder", scope: "main",
            objects: FolderStorage(at: "\(folder)/shared"))
        ])
    }

    func save(
      _ what: String, undoable: String? = nil,
      _ body: @escaping @Sendable (RecordEditor<Profile>) -> Void
    ) async throws {
      try await store.save(undoable: undoable) {
        body($0[Profile.self, "ada"])
      }
      tell(name, what)
    }

    /// The profile as the device shows it.
    var text: String {
      get async {
        guard let ada = await store.read({ $0[Profile.self, "ada"] }) else {
          return "no profile"
        }
        let others = ada.conflictingValues(of: \.name)
          .compactMap { $0.map { "\"\($0)\"" } }.joined(separator: ", ")
        return "\(ada.steps.grouped) steps, \"\(ada.name ?? "")\""
          + (others.isEmpty ? "" : ", and a conflict: \(others)")
      }
    }

    func sync() async throws {
      for status in await engine.sync() {
        if let error = status.error { throw error }
      }
    }
  }

  private let folder: String?

  /// Reads the arguments of `demo`.
  init(_ arguments: Arguments) throws(CommandError) {
    guard arguments.operands.count <= 1 else {
      throw .usage("demo takes one DIR; see `rejoin demo --help`")
    }
    folder = arguments.operands.first
    if folder == "" { throw .usage("DIR is empty; name a folder") }
  }

  /// Runs the demo in the folder, or in a temporary one.
  func run() async throws {
    let path =
      folder
      ?? FileManager.default.temporaryDirectory
      .appending(path: "rejoin-\(UUID())").path
    if FileManager.default.fileExists(atPath: path) {
      throw CommandError.usage(
        "\(path) exists; name a folder that the demo creates")
    }
    do {
      try FileManager.default.createDirectory(
        atPath: path + "/shared", withIntermediateDirectories: true)
    } catch {
      throw CommandError.failed(
        "\(path) cannot be created: \(Files.reason(error)); name another folder"
      )
    }
    defer {
      if folder == nil { try? FileManager.default.removeItem(atPath: path) }
    }
    do { try await play(in: path) } catch {
      throw CommandError.failed("\(path): \(error)")
    }
    if let folder {
      Terminal.write("\nTry `rejoin store \(folder)/phone.sqlite`.\n")
    }
  }

  private func play(in folder: String) async throws {
    let phone = try await Device("phone", 1, in: folder)
    let tablet = try await Device("tablet", 2, in: folder)

    /// Syncs in both directions, and prints what both devices show.
    func sync() async throws {
      for device in [phone, tablet, phone] { try await device.sync() }
      let shown = (await phone.text, await tablet.text)
      if shown.0 == shown.1 { return tell("both", shown.0) }
      tell("phone", shown.0)
      tell("tablet", shown.1)
    }

    title("Two devices edit a profile offline:")
    try await phone.save("adds 1,200 steps, and writes the name \"Ada\"") {
      $0.steps.increment(by: 1_200)
      $0.name = "Ada"
    }
    try await tablet.save("adds 800 steps, and writes the name \"Ada L.\"") {
      $0.steps.increment(by: 800)
      $0.name = "Ada L."
    }
    title(
      "After a sync through a folder, both counts and both names are there:")
    try await sync()

    title("The phone resolves the conflict, while the tablet adds steps:")
    try await phone.save("writes the name \"Ada Lovelace\"") {
      $0.name = "Ada Lovelace"
    }
    try await tablet.save("adds 50 steps", undoable: "Add steps") {
      $0.steps.increment(by: 50)
    }
    try await sync()

    title("The tablet undoes its last save, and no other edit:")
    try await tablet.store.undo()
    tell("tablet", await tablet.text)

    title("The phone deletes the profile, while the tablet adds steps:")
    try await phone.store.save { $0.delete(RecordID("Profile", "ada")) }
    tell("phone", await phone.text)
    try await tablet.save("adds 10 steps") { $0.steps.increment(by: 10) }
    title("After a sync, the edit wins over the deletion:")
    try await sync()
    for device in [phone, tablet] { try await device.store.close() }
  }
}

private func title(_ text: String) { Terminal.write("\(text)\n") }

/// Prints a line with the name of a device, or of both.
private func tell(_ name: String, _ text: String) {
  let gap = String(repeating: " ", count: 8 - name.count)
  Terminal.write("  \(name)\(gap)\(text)\n")
}
