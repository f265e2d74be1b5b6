// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinSQL
import RejoinStore
import Testing

@testable import RejoinCommand

/// Scripts whose devices are stored on disk.
@Suite final class StoredScriptTests {
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "rejoin-\(UUID())")

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func lines(
    of text: String, in stores: ScriptStores? = nil
  ) throws -> [String] {
    var printed: [String] = []
    try Replay.run(text, showsBytes: true, in: stores) { printed.append($0) }
    return printed
  }

  @Test(arguments: CheckedInScript.all)
  func storedScriptPrintsOutputOfMemory(_ script: CheckedInScript) throws {
    let stores = try ScriptStores(in: folder.path)
    #expect(try lines(of: script.text, in: stores) == lines(of: script.text))
  }

  private static let schema =
    #"{"entities": {"Item": {"fields": {"name": "register"}}}}"#

  @Test func everyDeviceHasStore() throws {
    let saves = ["-09AZaz", "/", ":", "@", "B ü", "[", "`", "{"].map {
      #"{"do":"save","on":"\#($0)","at":1,"record":"Item/1","set":{"name":"x"}}"#
    }
    let crash = #"{"do":"crash","on":"-09AZaz","at":2}"#
    let text = ([Self.schema] + saves + [crash]).joined(separator: "\n")
    _ = try lines(of: text, in: ScriptStores(in: folder.path))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".sqlite") }.sorted()
    let escaped = ["_2f", "_3a", "_40", "_4220c3bc", "_5b", "_60", "_7b"]
    #expect(names == (["-09AZaz"] + escaped).map { $0 + ".sqlite" })
    for (name, openings) in zip(names, [2] + escaped.map { _ in 1 as Int64 }) {
      let summary = try StoreSummary(
        of: SQLiteConnection(
          opening: folder.appending(path: name).path, .reading),
        checksPages: true)
      #expect(summary.faults.isEmpty)
      #expect(summary.scopes.map(\.openings) == [openings])
      #expect(summary.scopes.first?.replica.recordCount == 1)
    }
    // A second run does not use the stores of the first one.
    let error = #expect(throws: ScriptError.self) {
      try lines(of: text, in: ScriptStores(in: folder.path))
    }
    #expect(error?.line == 2)
    #expect(error?.reason.contains("choose a folder without stores") == true)
  }

  @Test func errorNamesFolderThatCannotBeCreated() throws {
    let path = folder.path
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    let error = #expect(throws: ScriptStores.Failure.self) {
      try ScriptStores(in: path + "/stores")
    }
    #expect(
      error?.description.contains("cannot be created: Not a directory") == true)
  }

  /// A context exists only in memory.
  @Test func crashDiscardsContexts() throws {
    let text = """
      \(Self.schema)
      {"do":"save","on":"A","at":1,"record":"Item/1","set":{"name":"x"}}
      {"do":"fetch","on":"A","at":2,"record":"Item/1","context":"c",\
      "policy":"error"}
      {"do":"crash","on":"A","at":3}
      {"do":"edit","context":"c","set":{"name":"y"}}
      """
    for stores in [nil, try ScriptStores(in: folder.path)] {
      let error = #expect(throws: ScriptError.self) {
        try lines(of: text, in: stores)
      }
      #expect(error?.line == 5)
      #expect(error?.reason.contains("fetch it first") == true)
    }
  }
}
