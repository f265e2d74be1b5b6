// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinStore
import Testing

@testable import RejoinCommand

/// `rejoin sync` with a folder.
@Suite struct FolderSyncTests {
  private struct Note: Entity {
    let title = register("title", of: String.self)
  }

  private let folder: Folder

  init() throws {
    folder = try Folder()
    try FileManager.default.createDirectory(
      at: folder.url.appending(path: "my list"),
      withIntermediateDirectories: false)
  }

  /// Opens a store, saves a note unless its title is empty, and returns all titles.
  @discardableResult
  private func save(
    _ title: String, in name: String
  ) async throws -> [String?] {
    let store = try await ReplicaStore(
      at: folder.url.appending(path: "\(name).sqlite").path,
      schema: [Note.self])
    if !title.isEmpty {
      try await store.save {
        $0[Note.self, String(title.prefix(9))].title = title
      }
    }
    let titles = await store.read { $0.records(of: Note.self).map(\.title) }
    try await store.close()
    return titles
  }

  private func sync(
    _ name: String, _ options: String = "", with place: String = "my list"
  ) async throws -> Printed {
    try await shell(
      "rejoin sync \(name).sqlite '\(place)' \(options)", in: folder)
  }

  private var objects: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(
        atPath: folder.url.appending(path: "my list").path)
    }
  }

  @Test func storesEndEqual() async throws {
    try await save("Milk", in: "one")
    try await save("Rye", in: "two")
    let sent = try await sync("one")
    #expect(sent.code == 0, "\(sent.text)")
    #expect(sent.text.hasPrefix("sent:      1 record in "))
    #expect(
      sent.text.hasSuffix(
        "\nreceived:  none\nunsent:    none\nsynced:    yes\n"))
    let both = try await sync("two")
    #expect(both.code == 0, "\(both.text)")
    #expect(both.text.hasPrefix("sent:      1 record in "))
    #expect(both.text.contains("\nreceived:  1 record in "))
    #expect(try await sync("one").code == 0)
    for name in ["one", "two"] {
      #expect(try await save("", in: name) == ["Milk", "Rye"])
      let idle = try await sync(name)
      #expect(
        idle.text == """
          sent:      none
          received:  none
          unsent:    none
          synced:    yes

          """)
      #expect(idle.code == 0)
    }
  }

  @Test(arguments: [
    "/nowhere/list-17", "./gone", "gone/", "/Volumes/My Family/list",
  ])
  func missingFolderFails(path: String) async throws {
    try await save("Milk", in: "one")
    let printed = try await sync("one", with: path)
    #expect(printed.code == 1)
    #expect(
      printed.text == "rejoin: there is no folder and no command at \(path); "
        + "create the folder, or connect its volume\n")
    // A name without a slash can be that of a command.
    let word = try await sync("one", with: "gone")
    #expect(word.code == 1)
    #expect(word.text.contains("a command or an existing folder"))
  }

  @Test func everyPathOfFolderIsOneRoute() async throws {
    try await save("Milk", in: "one")
    for place in ["my list", "./my list/", folder.url.path + "/my list"] {
      #expect(try await sync("one", with: place).code == 0)
    }
    #expect(try objects.count { $0.hasSuffix(".rejoin") } == 1)
    let printed = try await shell("rejoin store one.sqlite", in: folder)
    #expect(printed.code == 0)
    let routes = printed.text.split(separator: "\n").filter {
      $0.hasPrefix("rejoin sync ")
    }
    #expect(routes.count == 1)
    #expect(routes.first?.hasSuffix(" 0") == true, "\(routes)")
  }

  @Test func savesOfOtherDevicesWait() async throws {
    try await save("Milk", in: "one")
    try await save("Rye", in: "two")
    for name in ["one", "two"] {
      let printed = try await shell(
        "rejoin sync \(name).sqlite \"'\(rejoinPath)' serve --stdio hub.sqlite\"",
        in: folder)
      #expect(printed.code == 0, "\(printed.text)")
    }
    let printed = try await sync("two")
    #expect(printed.code == 1)
    #expect(printed.text.contains("\nunsent:    1 save\n"))
    #expect(
      printed.text.contains(
        "1 save of other devices not sent; run the command again in 20 min"))
    #expect(try await sync("one").code == 0)
    #expect(try await sync("two").code == 0)
  }

  @Test func holeOfDeviceFails() async throws {
    try await save(String(repeating: "Milk", count: 1_000), in: "one")
    #expect(try await sync("one").code == 0)
    let first = try #require(try objects.first { $0.hasSuffix(".rejoin") })
    try await save("Rye", in: "one")
    #expect(try await sync("one").code == 0)
    try FileManager.default.removeItem(
      at: folder.url.appending(path: "my list/\(first)"))
    try await save("", in: "two")
    let printed = try await sync("two")
    #expect(printed.code == 1)
    #expect(printed.text.contains("synced:    no\n"))
    #expect(printed.text.contains("lacks a part of the saves of a device"))
    // The device sends the saves again.
    #expect(try await sync("one").code == 0)
    #expect(try await sync("two").code == 0)
    #expect(try await save("", in: "two").count == 2)
  }

  @Test func otherScopeFails() async throws {
    try await save("Milk", in: "one")
    try await save("Rye", in: "two")
    #expect(try await sync("one", "--as list-17").code == 0)
    let before = try objects.sorted()
    let printed = try await sync("two")
    #expect(printed.code == 1)
    #expect(printed.text.contains("Compare the names of the scopes"))
    #expect(try objects.sorted() == before)
  }
}
