// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinStore
import RejoinSync
import _RejoinVerification

/// Opens the store after a power cut, and lists its faults.
struct Inspector {
  /// The folder for the files.
  let folder: String
  /// The name of the database.
  let database: String

  private var path: String { folder + "/" + database }

  /// Returns the faults of a store.
  ///
  /// - Parameters:
  ///   - content: The files.
  ///   - last: The last acknowledgement, if any.
  ///   - next: The next acknowledgement, whose save may exist or not.
  ///   - sent: The number of the last possibly sent save.
  ///   - objects: The objects that the folder has.
  func faults(
    in content: [String: [UInt8]], last: Acknowledgement?,
    next: Acknowledgement?, sent: UInt64?, objects: Set<String>
  ) async throws -> [String] {
    try put(content)
    var faults = try await objectFaults(objects)
    if let sent {
      let token = try TokenFile(beside: path).load()
        .flatMap { try? RestoreToken(decoding: $0) }
      if token.map({ $0.sequence < sent }) ?? true {
        faults.append(
          "the token of save \(sent), which was sent, is lost: there is "
            + (token.map { "that of \($0.sequence)" } ?? "none"))
      }
    }
    do {
      let snapshot = try await snapshot()
      if snapshot != nil,
        let fault = try NotesTable.fault(
          on: SQLiteConnection(opening: path, .reading))
      {
        faults.append(fault)
      }
      faults += try await openingFaults(last, next, sent)
      faults += try await readingFaults(snapshot)
      let summary = try StoreSummary(
        of: try SQLiteConnection(opening: path, .reading), checksPages: true)
      faults += summary.faults
      faults += try copyFaults()
      try await openScratch()
    } catch { faults.append("\(error)") }
    return faults
  }

  /// Returns the faults of the folder, whose objects are whole, and not there only if
  /// `put` did not return.
  private func objectFaults(_ objects: Set<String>) async throws -> [String] {
    let storage = FolderStorage(at: folder)
    let names = Set(try await storage.list().map(\.name))
    var faults = objects.subtracting(names).map { "the object \($0) is lost" }
    for name in names {
      let isWhole = String(repeating: name, count: 40).utf8.elementsEqual(
        try await storage.get(name) ?? [])
      if !isWhole { faults.append("the object \(name) is not whole") }
    }
    return faults
  }

  /// Returns the records as a reader shows them before a store opens the file, or
  /// `nil` if the scope does not exist.
  private func snapshot() async throws -> ShownRecords? {
    do {
      return try await StoreReader(at: path, schema: []).read {
        ShownRecords(in: $0)
      }
    } catch StoreError.notCreated {
      return nil
    }
  }

  /// Returns the differences between the store that was opened and a snapshot
  /// before and after.
  private func readingFaults(_ before: ShownRecords?) async throws -> [String] {
    let store = try await ReplicaStore(at: path, schema: [])
    let opened = await store.read { ShownRecords(in: $0) }
    let after = try await store.reader().read { ShownRecords(in: $0) }
    var faults: [String] = []
    if let before, before != opened {
      faults.append("a reader showed \(before), the store shows \(opened)")
    }
    if before == nil, !opened.records.isEmpty {
      faults.append("a reader found no scope, the store shows \(opened)")
    }
    if after != opened {
      faults.append("a reader shows \(after), the store shows \(opened)")
    }
    return faults
  }

  /// Returns the faults of the copy of the store.
  private func copyFaults() throws -> [String] {
    let copy = path + ".copy"
    guard FileManager.default.fileExists(atPath: copy) else { return [] }
    let summary = try StoreSummary(
      of: try SQLiteConnection(opening: copy, .reading), checksPages: true)
    guard summary.scopes.contains(where: { $0.name == "main" }) else {
      return ["the copy lacks the scope"]
    }
    return summary.faults.map { "in the copy: \($0)" }
  }

  /// Opens the scope that is sometimes deleted.
  ///
  /// It is whole, missing or new.
  private func openScratch() async throws {
    do {
      let store = try await ReplicaStore(at: path, scope: "scratch", schema: [])
      try await store.close()
    } catch StoreError.missing {}
  }

  private func openingFaults(
    _ last: Acknowledgement?, _ next: Acknowledgement?, _ sent: UInt64?
  ) async throws -> [String] {
    let store = try await ReplicaStore(at: path, schema: [])
    let (number, bytes) = await store.read {
      ($0.version[$0.device].sequence, $0.replica.current.encoded())
    }
    let digest = bytes.withUnsafeBytes { WireChecksum.of($0) }
    if await store.deviceChange != nil { return ["a needless new device"] }
    var faults: [String] = []
    let name = await store.undoName
    if name != (number == 0 ? nil : "\(number)") {
      faults.append(
        "the undo history of save \(number) ends with \(name ?? "nothing")")
    }
    if let sent, number < sent {
      faults.append("save \(number + 1) was sent, and will be made again")
    }
    if number < last?.number ?? 0 {
      faults.append(
        "\((last?.number ?? 0) - number) acknowledged saves are lost")
    } else if number > next?.number ?? last?.number ?? 0 {
      faults.append("save \(number) was never made")
    } else if let last, digest != last.digest, digest != next?.digest {
      faults.append("not as after any step, with save \(number)")
    }
    return faults
  }

  private func put(_ content: [String: [UInt8]]) throws {
    let files = FileManager.default
    try? files.removeItem(atPath: folder)
    try files.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
    for (name, bytes) in content {
      try Data(bytes).write(to: URL(fileURLWithPath: folder + "/" + name))
    }
    // The log's index is not reliable after a power cut.
    if content.values.reduce(0, { $0 &+ $1.count }) % 2 == 0 {
      try Data(repeating: 0xa5, count: 32768)
        .write(to: URL(fileURLWithPath: path + "-shm"))
    }
  }
}
