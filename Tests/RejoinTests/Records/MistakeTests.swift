// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import _RejoinVerification

/// Mistakes that do not compile, with the errors that the compiler shows.
@Suite struct MistakeTests {
  /// Compiles a function with an editor and a record, and returns the errors.
  private func errors(in statement: String) throws -> [String] {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "mistake-\(UUID())")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "main.swift")
    let source = """
      import Rejoin

      struct List: Entity {
        let name = register("name", of: String.self)
      }

      struct Item: Entity {
        let title = register("title", of: String.self)
        let weight = register("weight", of: Double.self)
        let quantity = counter("quantity")
        let tags = set("tags", of: String.self)
        let cost = ledger("cost")
        let list = toOne("list", List.self)
      }

      func edit(
        item: RecordEditor<Item>, record: TypedRecord<Item>,
        view: ReplicaView, number: Int, text: String
      ) {
        \(statement)
      }
      """
    try Data(source.utf8).write(to: file)
    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments = [
      "swiftc", "-typecheck", "-swift-version", "6", "-I", modules.path(),
      file.path(),
    ]
    let pipe = Pipe()
    compiler.standardError = pipe
    compiler.standardOutput = pipe
    try compiler.run()
    let output = try TestProgram.output(of: pipe)
    compiler.waitUntilExit()
    return String(decoding: output, as: UTF8.self).split(separator: "\n")
      .filter { $0.hasPrefix(file.path()) }
      .compactMap { $0.split(separator: ": error: ").dropFirst().first }
      .map {
        String($0).replacing(
          "'subscript(dynamicMember:)' is unavailable: ", with: "")
      }
  }

  /// The folder of the modules that the test is built from.
  private var modules: URL {
    #if os(macOS)
      let bundle = Bundle.allBundles.first {
        $0.bundlePath.hasSuffix(".xctest")
      }
      let products =
        bundle?.bundleURL.deletingLastPathComponent()
        ?? Bundle.main.bundleURL
    #else
      let products = Bundle.main.bundleURL
    #endif
    return products.appending(path: "Modules")
  }

  @Test func correctCodeCompiles() throws {
    #expect(
      try errors(
        in: """
          item.title = text; item.title = nil; item.weight = 4.5; item.weight = 3
          item.quantity.increment(); item.tags.insert("x"); item.cost.append(5)
          item.list = Reference("home"); item.list = nil
          let title = item.title; let other: String? = item.title
          if item.title == "x", item.quantity.value > number { item.ensureExists() }
          print(title ?? other ?? text, item.tags.elements, item.cost.total)
          print(record.id, record.record.id, record.quantity, record.tags)
          print(view[Item.self, "milk"]?.title ?? "", view.version)
          """) == [])
  }

  @Test(arguments: [
    "item.quantity = 5", "item.quantity = number", "item.quantity += 1",
    "let count: Int = item.quantity",
  ])
  func assignmentToCounterDoesNotCompile(_ statement: String) throws {
    #expect(
      try errors(in: statement) == [
        "an assignment to a counter would lose what other devices count: use "
          + "`increment(by:)`, `decrement(by:)` or `set(to:)`, and read `value`"
      ])
  }

  @Test(arguments: ["item.tags = [\"x\"]", "item.tags = []"])
  func assignmentToSetDoesNotCompile(_ statement: String) throws {
    #expect(
      try errors(in: statement) == [
        "an assignment to a set would remove what other devices insert: use "
          + "`insert(_:)`, `remove(_:)` or `removeAll()`, and read `elements`"
      ])
  }

  @Test func assignmentToLedgerDoesNotCompile() throws {
    #expect(
      try errors(in: "item.cost = 5") == [
        "an assignment to a ledger would lose its entries: use "
          + "`append(_:memo:)`, and read `total`"
      ])
  }

  @Test(arguments: ["item.list = \"home\"", "item.list = text"])
  func keyInsteadOfReferenceDoesNotCompile(_ statement: String) throws {
    #expect(
      try errors(in: statement) == [
        "the field refers to a record: use `Reference(\"key\")` or `nil`, and "
          + "read `key` of the reference"
      ])
  }

  @Test(arguments: [
    "item.weight = \"x\"", "item.weight = text", "item.title = 5",
    "item.title = number",
  ])
  func valueOfAnotherTypeDoesNotCompile(_ statement: String) throws {
    #expect(
      try errors(in: statement) == [
        "the field has values of another type: convert to an optional of the "
          + "type that the entity declares"
      ])
  }

  /// Each call could send saves that the restore token does not cover.
  @Test(arguments: [
    "delta(since: view.version)", "state", "encoded()", "save { _ in }",
  ])
  func viewDoesNotExport(_ call: String) throws {
    let member = call.prefix { $0.isLetter }
    #expect(
      try errors(in: "_ = view.\(call)").first
        == "value of type 'ReplicaView' has no member '\(member)'")
  }

  @Test func undeclaredIDFieldDoesNotCompile() throws {
    #expect(
      try errors(in: "print(item.id)") == [
        "'id' is unavailable: the entity has no field `id`: the key of a record "
          + "that was read is `record.id`"
      ])
    // A record that was read has an ID.
    #expect(try errors(in: "print(record.id)") == [])
  }

  @Test(arguments: ["item", "record"])
  func undeclaredKeyFieldDoesNotCompile(_ record: String) throws {
    #expect(
      try errors(in: "print(\(record).key)") == [
        "'key' is unavailable: the entity has no field `key`: the key of a "
          + "record that was read is `record.id`"
      ])
  }
}
